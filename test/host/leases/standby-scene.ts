import assert from 'node:assert/strict'
import type { HostLeaseState } from '../../../src/domain/standby/host-lease-state.ts'
import type { StandByResult } from '../../../src/domain/instance/host-work.ts'
import type { ScaleToZero } from '../../../src/domain/standby/scale-to-zero.ts'
import { pass } from './gateway.ts'
import { Machine, uuid } from '../agent/machine.ts'
import type { AgentOptions, LiveAgent } from '../agent/machine.ts'

export const boot = { instanceUuid: uuid, boot: 1 }
export const gentle = { forced: false, graceMs: 1_000 } as const
export const forced = { forced: true, graceMs: 0 } as const
export const cold = { policy: 'on', cooldownMs: 1_000, stateful: false } as const
export const stateful = { policy: 'idle', cooldownMs: 1_000, stateful: true } as const
/** An application that never listens counts as idle this long after its start. */
const firstQuietMs = 10_000

/** One instance on one machine, and the agent that looks after it. */
export class StandbyScene {
  machine: Machine
  #live: LiveAgent | undefined

  constructor(machine: Machine) {
    this.machine = machine
  }

  static async make(): Promise<StandbyScene> {
    return new StandbyScene(await Machine.make())
  }

  get live(): LiveAgent {
    assert.ok(this.#live !== undefined)
    return this.#live
  }

  get hostLease(): HostLeaseState {
    const entry = this.live.agent.entries.get(uuid)
    assert.ok(entry !== undefined)
    return entry.hostLease
  }

  /** Kills the agent, if there is one, and starts the next. */
  async nextAgent(options: AgentOptions = {}): Promise<LiveAgent> {
    this.#live?.kill()
    this.#live = await this.machine.readyAgent(options)
    return this.#live
  }

  /** Starts an instance and lets it become idle. */
  async running(scaleToZero: ScaleToZero, options: AgentOptions = {}): Promise<void> {
    this.machine.scalesToZero(scaleToZero)
    const live = await this.nextAgent(options)
    await live.agent.start(boot)
    pass(this.machine, live, firstQuietMs)
  }

  async asleep(scaleToZero: ScaleToZero, options: AgentOptions = {}): Promise<void> {
    await this.running(scaleToZero, options)
    assert.equal((await this.standBy()).slept, true)
  }

  /** Gives the order of a workflow that was told of the present idle period. */
  async standBy(
    changes: { boot?: number; epoch?: number; permit?: number; graceMs?: number } = {},
  ): Promise<StandByResult> {
    const { boot: ofBoot, idle, settings } = this.hostLease
    return await this.live.agent.standBy({
      instanceUuid: uuid,
      boot: ofBoot,
      epoch: idle?.epoch ?? 0,
      permit: ofBoot + 1,
      stateful: settings.stateful,
      graceMs: 5_000,
      ...changes,
    })
  }

  async shutdownAsked(): Promise<void> {
    while (this.live.agent.entries.get(uuid)?.sleepAsked !== true) {
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  async remove(): Promise<void> {
    this.#live?.kill()
    await this.#live?.written()
    await this.machine.remove()
  }
}
