import { decide, newLifecycle } from '../../src/domain/instance/lifecycle.ts'
import { effectsOf, HostWorkKind } from '../../src/domain/instance/lifecycle-effects.ts'
import type { HostWork } from '../../src/domain/instance/lifecycle-effects.ts'
import { EventKind, Phase, phaseOf } from '../../src/domain/instance/lifecycle-state.ts'
import type { Lifecycle, LifecycleEvent } from '../../src/domain/instance/lifecycle-state.ts'
import { RestartPolicy } from '../../src/domain/instance/restart-policy.ts'
import type { ScaleToZero } from '../../src/domain/standby/scale-to-zero.ts'
import type { Simulation } from './simulation.ts'

/**
 * The workflow of the instance: durable, so a restart of its worker only delays it. Calls are repeated until
 * answered.
 */
export class SimulatedWorkflow {
  life: Lifecycle
  /** Whoever runs workflows is away until then. */
  awayUntilMs = 0
  readonly #underWay = new Map<string, HostWork>()
  readonly #calledOff = new Set<HostWork>()
  readonly #sim: Simulation

  constructor(sim: Simulation, options: { readonly autostart: boolean; readonly scaleToZero: ScaleToZero }) {
    this.#sim = sim
    this.life = newLifecycle({ deleteOnStop: false, restartPolicy: RestartPolicy.Never, ...options })
  }

  say(event: LifecycleEvent): void {
    const waitMs = this.awayUntilMs - this.#sim.time.nowMs
    if (waitMs > 0) {
      this.#sim.time.after(waitMs, () => this.say(event))
      return
    }
    const before = this.life
    const decision = decide(before, event, this.#sim.time.nowMs)
    if (decision.accepted) this.life = JSON.parse(JSON.stringify(decision.life)) as Lifecycle
    this.#sim.check(this.life.revision >= before.revision, 'the revision shrank')
    if (this.life.revision !== before.revision) this.#sim.news()
    this.#sim.check(this.life.uptimeMs >= before.uptimeMs, 'the uptime shrank')
    this.#sim.note(
      `workflow: ${JSON.stringify(event)} -> ${phaseOf(this.life)} boot ${this.life.boot} permit ${String(this.life.permit)}`,
    )
    this.align()
  }

  align(): void {
    const { hostWork, wakeAtMs } = effectsOf(this.life)
    for (const work of this.#underWay.values()) this.#callOff(work, hostWork)
    if (wakeAtMs !== undefined) this.#tickAt(wakeAtMs)
    if (hostWork === undefined || this.#underWay.has(JSON.stringify(hostWork))) return
    const name = JSON.stringify(hostWork)
    this.#underWay.set(name, hostWork)
    const isStandBy = hostWork.kind === HostWorkKind.StandBy
    if (isStandBy)
      this.#sim.check(phaseOf(this.life) !== Phase.Draining, 'a draining instance is sent to standby')
    void this.#call(hostWork).then(async (events) => {
      while (this.awayUntilMs > this.#sim.time.nowMs)
        await this.#sim.time.pause(this.awayUntilMs - this.#sim.time.nowMs)
      this.#underWay.delete(name)
      for (const event of events) this.say(event)
      this.align()
    })
  }

  #callOff(work: HostWork, by: HostWork | undefined): void {
    const ends = by?.kind === HostWorkKind.Stop || by?.kind === HostWorkKind.Remove
    if (work.kind === HostWorkKind.Drain && !ends && by?.kind !== HostWorkKind.Drain) {
      this.#underWay.delete(JSON.stringify(work))
      this.#calledOff.add(work)
      this.#sim.time.after(this.#sim.dice.within(1, 200), () => this.#sim.host.undrain(work.boot))
    }
    if (work.kind === HostWorkKind.Start && ends)
      this.#sim.time.after(this.#sim.dice.within(1, 200), () => this.#sim.host.abandon(work.boot))
  }

  /** At least once: an answer that is lost is asked for again, and an agent that died is asked anew. */
  async #call(work: HostWork): Promise<readonly LifecycleEvent[]> {
    const { time, dice, host } = this.#sim
    for (;;) {
      await time.pause(dice.within(1, 40))
      if (dice.happens(this.#sim.faults.lostCalls)) {
        await time.pause(dice.within(100, 3_000))
        continue
      }
      if (this.#calledOff.has(work)) return []
      const answer = host.perform(work)
      const twice = dice.happens(this.#sim.faults.lostCalls)
      if (twice) void host.perform(work).catch(() => undefined)
      const result = await answer.catch((error: unknown) => error as Error)
      await time.pause(dice.within(1, 40))
      if (!(result instanceof Error)) {
        if (dice.happens(this.#sim.faults.lostCalls)) continue
        return result
      }
      if (work.kind === HostWorkKind.Start && result.message !== 'the agent died') {
        return [
          { kind: EventKind.StartFailed, boot: work.boot, failure: 'HostFull', message: result.message },
        ]
      }
      await time.pause(dice.within(200, 2_000))
    }
  }

  #tickAt(atMs: number): void {
    this.#sim.time.after(Math.max(1, atMs - this.#sim.time.nowMs), () => {
      if (effectsOf(this.life).wakeAtMs === atMs) this.say({ kind: EventKind.Tick })
    })
  }
}
