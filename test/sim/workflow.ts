import { HostFailure, StandByRefusal } from '../../src/domain/instance/host-work.ts'
import type { HostEvent } from '../../src/domain/instance/host-work.ts'
import { decide, newLifecycle } from '../../src/domain/instance/lifecycle.ts'
import { effectsOf, HostWorkKind } from '../../src/domain/instance/lifecycle-effects.ts'
import type { StayWork as HostWork } from '../../src/domain/instance/lifecycle-effects.ts'
import { projectionOf } from '../../src/domain/instance/lifecycle-projection.ts'
import { EventKind, Phase, phaseOf } from '../../src/domain/instance/lifecycle-state.ts'
import type { Lifecycle, LifecycleEvent } from '../../src/domain/instance/lifecycle-state.ts'
import { asHostStartError } from '../../src/host/instance/host-start-error.ts'
import type { LiveAgent } from './agent.ts'
import type { SimConfiguration } from './commands.ts'
import type { SimHost } from './host.ts'
import type { World } from './world.ts'

export interface WorkflowOptions {
  readonly world: World
  readonly host: SimHost
  readonly instanceUuid: string
  readonly configuration: SimConfiguration
  /** Called after every decision. */
  readonly onLife: (life: Lifecycle, before: Lifecycle) => void
}

interface Call {
  readonly work: HostWork
  readonly cancelled: { readonly promise: Promise<void>; set: boolean; now(): void }
  /**
   * Whether the workflow of the call was terminated. Then nobody tells the host that the call is cancelled.
   */
  left: boolean
}

/** How the world's faults affect the control plane. */
export interface ControlTemper {
  signalLost: number
  resultLost: number
  repeated: number
  longestDelayMs: number
  /**
   * The probability that a signal arrives after later signals, because its sender had given up waiting for
   * it.
   */
  reordered: number
}

const heartbeatTimeoutMs = 10_000
const latestSignalMs = 6_000
const latestAttemptMs = 3_000
/** After a start has failed, the instance is in one of these phases, if nothing else happened meanwhile. */
const latePhases: ReadonlySet<Phase> = new Set([Phase.Starting, Phase.Stopped])
const attemptsOfOneBoot = 4
const firstRetryMs = 500
const longestRetryMs = 5_000
const unexpectedPauseMs = 10_000
const cancelled = Symbol('cancelled')

/**
 * The workflow of one instance, as `workflows/` runs it. The lifecycle is the real one; the activities that
 * carry out its effects are simulated.
 */
export class SimWorkflow {
  life: Lifecycle
  readonly temper: ControlTemper = {
    signalLost: 0,
    resultLost: 0,
    repeated: 0,
    longestDelayMs: 20,
    reordered: 0,
  }
  /** The workflow stands still until this time: its worker restarts, or Temporal is away. */
  pausedUntilMs = 0
  readonly #options: WorkflowOptions
  readonly #calls = new Map<string, Call>()
  #due: { cancel(): void } | undefined
  /**
   * The number of terminations so far. What began before the last termination has no effect on the workflow
   * any more.
   */
  #run = 0

  constructor(options: WorkflowOptions) {
    this.#options = options
    this.life = newLifecycle(options.configuration.rules)
    options.world.note(`workflow begins ${this.life.state}`)
    this.#look()
  }

  get isGone(): boolean {
    return effectsOf(this.life).deleteRow
  }

  /** Delivers a user's command or the result of work. It arrives after a while, and sometimes twice. */
  say(event: LifecycleEvent): void {
    const { world } = this.#options
    const { dice } = world
    const run = this.#run
    const isRepeated = dice.chance(this.temper.repeated)
    for (let times = isRepeated ? 2 : 1; times > 0; times--) {
      world.after(dice.stretched(1, this.temper.longestDelayMs), () => {
        if (run === this.#run) this.#take(event)
      })
    }
  }

  /**
   * Delivers an event at least once, as a signal. Rejects if Temporal can not be reached, whether or not the
   * event was taken.
   */
  async signal(event: HostEvent): Promise<'taken' | 'gone'> {
    const { world } = this.#options
    await world.sleep(world.dice.stretched(1, this.temper.longestDelayMs))
    if (world.nowMs < this.pausedUntilMs && world.dice.chance(0.5)) throw new Error('Temporal is away')
    const isLost = world.dice.chance(this.temper.signalLost)
    if (isLost && world.dice.chance(0.5)) throw new Error('Temporal is away')
    if (this.isGone) return 'gone'
    if (world.dice.chance(this.temper.reordered)) this.#takeLate(heardAs(event))
    else this.#take(heardAs(event))
    if (isLost) throw new Error('the answer was lost')
    return 'taken'
  }

  /** Takes an event late. Its sender has given up waiting by then, and may have sent later events. */
  #takeLate(event: LifecycleEvent): void {
    const { world } = this.#options
    const run = this.#run
    world.after(world.dice.stretched(1, latestSignalMs), () => {
      if (run === this.#run) this.#take(event)
    })
  }

  /** Terminates the workflow, as a person may, and starts another one from its row. */
  terminate(): void {
    if (this.isGone) return
    const { world, configuration } = this.#options
    this.#run += 1
    for (const call of this.#calls.values()) {
      call.left = true
      call.cancelled.now()
    }
    this.#calls.clear()
    const { revision } = this.life
    const before = this.life
    world.note('the workflow is terminated and begun again')
    this.life = newLifecycle(configuration.rules, { revision, projection: projectionOf(this.life) })
    // The caller that starts the workflow again also tells it that its row is marked as deleted or as
    // retired.
    if (before.deletion !== undefined) this.#decide({ kind: EventKind.Delete })
    else if (before.retired === true)
      this.#decide({ kind: EventKind.Stop, force: false, drainTimeoutMs: 0, thenDelete: true })
    this.#options.onLife(this.life, before)
    this.#look()
  }

  #decide(event: LifecycleEvent): boolean {
    const decision = decide(this.life, event, Math.floor(this.#options.world.nowMs))
    if (decision.accepted) this.life = decision.life
    return decision.accepted
  }

  #take(event: LifecycleEvent): void {
    const { world } = this.#options
    if (world.nowMs < this.pausedUntilMs) {
      const run = this.#run
      const again = world.dice.between(0, 5)
      world.after(this.pausedUntilMs - world.nowMs + again, () => {
        if (run === this.#run) this.#take(event)
      })
      return
    }
    const before = this.life
    if (!this.#decide(event)) return
    if (event.kind !== EventKind.Tick || before !== this.life) {
      world.note(
        `workflow hears ${JSON.stringify(event)}: ${before.state} -> ${this.life.state} boot ${this.life.boot}`,
      )
    }
    this.#options.onLife(this.life, before)
    this.#look()
  }

  #look(): void {
    const { world } = this.#options
    const { hostWork, wakeAtMs } = effectsOf(this.life)
    this.#align(hostWork as HostWork | undefined) // There is one host, so no instance moves.
    this.#due?.cancel()
    if (wakeAtMs === undefined) return
    const run = this.#run
    this.#due = world.after(Math.max(1, Math.ceil(wakeAtMs - world.nowMs)), () => {
      if (run === this.#run) this.#take({ kind: EventKind.Tick })
    })
  }

  #align(work: HostWork | undefined): void {
    for (const call of this.#calls.values()) if (isReplaced(call.work, work)) call.cancelled.now()
    if (work === undefined || this.#calls.has(nameOf(work))) return
    const call = { work, cancelled: cancellation(), left: false }
    this.#calls.set(nameOf(work), call)
    const run = this.#run
    void this.#carryOut(call).then(() => {
      if (run !== this.#run) return
      this.#calls.delete(nameOf(work))
      this.#look()
    })
  }

  async #carryOut(call: Call): Promise<void> {
    const { world } = this.#options
    const run = this.#run
    const mostAttempts = call.work.kind === HostWorkKind.Start ? attemptsOfOneBoot : Infinity
    for (let attempt = 1; ; attempt++) {
      const outcome = await Promise.race([this.#attempt(call), call.cancelled.promise.then(() => cancelled)])
      if (outcome === cancelled || call.cancelled.set || run !== this.#run) return
      if (!(outcome instanceof Error)) {
        for (const event of outcome as readonly LifecycleEvent[]) this.say(event)
        await world.sleep(this.temper.longestDelayMs + 1)
        return
      }
      const { failure, message, final } = asHostStartError(outcome)
      world.note(`${nameOf(call.work)} failed: ${failure} ${message}`)
      if (final || failure === HostFailure.UnknownInstance || attempt >= mostAttempts) {
        for (let late = attempt; late > 0; late--) this.#performLate(call.work)
        const event = eventOfFailure(call.work, failure, message)
        if (event === undefined) await world.sleep(unexpectedPauseMs)
        else {
          this.say(event)
          await world.sleep(this.temper.longestDelayMs + 1)
        }
        return
      }
      await world.sleep(Math.min(longestRetryMs, firstRetryMs * 2 ** (attempt - 1)))
    }
  }

  /**
   * Makes one attempt of a call at one agent. If the agent dies or the result is lost, the attempt fails
   * after the heartbeat timeout. The host may go on with the work all the same.
   */
  async #attempt(call: Call): Promise<readonly LifecycleEvent[] | Error> {
    const { world, host } = this.#options
    const { dice } = world
    for (;;) {
      await world.sleep(dice.stretched(1, this.temper.longestDelayMs))
      if (call.cancelled.set) return []
      const { agent } = host
      if (agent === undefined) {
        await world.sleep(100)
        continue
      }
      if (call.work.kind === HostWorkKind.StandBy) host.noteOrder(call.work)
      const attempt = { over: false }
      void call.cancelled.promise.then(() => {
        if (!attempt.over && !call.left) this.#tellCancelled(agent, call.work)
      })
      const result = await Promise.race([
        this.#perform(agent, call.work).catch((error: unknown) => error as Error),
        agent.death,
      ])
      attempt.over = true
      if (result === undefined || dice.chance(this.temper.resultLost)) {
        world.note(`an attempt of ${nameOf(call.work)} is lost`)
        await world.sleep(heartbeatTimeoutMs)
        return new Error('no heartbeat came')
      }
      await world.sleep(dice.stretched(1, this.temper.longestDelayMs))
      return result
    }
  }

  /**
   * Lets an attempt of a failed start reach the agent late, as an attempt may that was cut off. Nobody waits
   * for its result.
   */
  #performLate(work: HostWork): void {
    const { world, host } = this.#options
    const { agent } = host
    const isLate = world.dice.chance(2 * this.temper.repeated)
    if (work.kind !== HostWorkKind.Start || agent === undefined || !isLate) return
    world.after(world.dice.stretched(1, latestAttemptMs), () => {
      const isWanted = agent.alive && this.life.boot === work.boot && latePhases.has(phaseOf(this.life))
      if (isWanted) this.#perform(agent, work).catch(() => undefined)
    })
  }

  /**
   * Tells the agent that work is called off. The agent hears of it with its next heartbeat, up to 8 s later.
   */
  #tellCancelled(agent: LiveAgent, work: HostWork): void {
    const { world, instanceUuid } = this.#options
    world.after(world.dice.stretched(10, 8_000), () => {
      if (!agent.alive) return
      if (work.kind === HostWorkKind.Start) void agent.core.abandon({ instanceUuid, boot: work.boot })
      if (work.kind === HostWorkKind.Drain) agent.core.undrain({ instanceUuid, boot: work.boot })
    })
  }

  async #perform(agent: LiveAgent, work: HostWork): Promise<readonly LifecycleEvent[]> {
    const { instanceUuid, world } = this.#options
    world.note(`agent is asked to ${nameOf(work)}`)
    switch (work.kind) {
      case HostWorkKind.Start: {
        const { boot } = work
        const { started, exit, slept } = await agent.core.start({ instanceUuid, boot })
        const up: LifecycleEvent = { kind: EventKind.Started, report: started }
        if (slept !== undefined) return [up, { kind: EventKind.Slept, boot, ...slept }]
        return exit === undefined ? [up] : [up, { kind: EventKind.Exited, exit }]
      }
      case HostWorkKind.Stop: {
        const { boot } = work
        const { exit } = await agent.core.stop({ instanceUuid, ...work })
        if (exit?.boot === boot) return [{ kind: EventKind.Exited, exit }]
        const absent: LifecycleEvent = { kind: EventKind.Absent, boot }
        return exit === undefined ? [absent] : [{ kind: EventKind.Exited, exit }, absent]
      }
      case HostWorkKind.StandBy: {
        const { kind: _kind, ...order } = work
        const result = await agent.core.standBy({ instanceUuid, ...order })
        const { boot, epoch, permit } = work
        if (!result.slept) return [{ kind: EventKind.StandByRefused, boot, epoch, reason: result.reason }]
        const { slept: _slept, ...sleep } = result
        return [{ kind: EventKind.Slept, boot, permit, ...sleep }]
      }
      case HostWorkKind.Drain:
        await agent.core.drain({ instanceUuid, boot: work.boot })
        return [{ kind: EventKind.ConnectionsClosed }]
      case HostWorkKind.Change: {
        const { renewed } = await agent.core.change({ instanceUuid, ...work })
        return [{ ...work, kind: EventKind.ChangeTaken, renewed }]
      }
      case HostWorkKind.Remove:
        await agent.core.remove({ instanceUuid })
        return [{ kind: EventKind.Removed }]
    }
  }
}

function cancellation(): Call['cancelled'] {
  let resolve = (): void => undefined
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  const state = {
    promise,
    set: false,
    now: () => {
      state.set = true
      resolve()
    },
  }
  return state
}

function isReplaced(old: HostWork, by: HostWork | undefined): boolean {
  const ends = by?.kind === HostWorkKind.Stop || by?.kind === HostWorkKind.Remove
  if (old.kind === HostWorkKind.Start) return ends
  if (old.kind === HostWorkKind.StandBy) return ends && old.boot === 0
  return old.kind === HostWorkKind.Drain && !ends && by?.kind !== HostWorkKind.Drain
}

function nameOf(work: HostWork): string {
  if (work.kind === HostWorkKind.Remove) return 'remove'
  if (work.kind === HostWorkKind.StandBy) {
    return `stand by after boot ${work.boot}, permit ${work.permit}, idle period ${work.epoch}`
  }
  if (work.kind === HostWorkKind.Change) return `take over configuration ${work.version}`
  const name = `${work.kind} boot ${work.boot}`
  return work.kind === HostWorkKind.Stop && work.forced ? `${name} by force` : name
}

function eventOfFailure(work: HostWork, failure: HostFailure, message: string): LifecycleEvent | undefined {
  if (work.kind === HostWorkKind.Start) {
    return { kind: EventKind.StartFailed, boot: work.boot, failure, message }
  }
  if (failure !== HostFailure.UnknownInstance) return undefined
  if (work.kind === HostWorkKind.Stop) return { kind: EventKind.Absent, boot: work.boot }
  if (work.kind === HostWorkKind.Remove) return { kind: EventKind.Removed }
  if (work.kind === HostWorkKind.Drain) return { kind: EventKind.ConnectionsClosed }
  if (work.kind === HostWorkKind.Change) return { ...work, kind: EventKind.ChangeTaken, renewed: false }
  return { ...work, kind: EventKind.StandByRefused, reason: StandByRefusal.NotRunning }
}

function heardAs(event: HostEvent): LifecycleEvent {
  switch (event.kind) {
    case 'exited':
      return { kind: EventKind.Exited, exit: event.exit }
    case 'started':
      return { kind: EventKind.Started, report: event.started }
    case 'idle':
      return { ...event, kind: EventKind.Idle }
    case 'waking':
      return { ...event, kind: EventKind.Waking }
    case 'wake-failed':
      return { kind: EventKind.WakeFailed, boot: event.boot, message: event.message }
    case 'disabled':
      return { ...event, kind: EventKind.Disabled }
    case 'lost':
      return { ...event, kind: EventKind.Lost }
    case 'removed':
      return { kind: EventKind.Removed }
  }
}
