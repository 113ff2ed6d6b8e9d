import assert from 'node:assert/strict'
import type { FetchResult } from '../../../src/domain/instance/host-work.ts'
import type { LaunchSpec } from '../../../src/domain/host/api-protocol.ts'
import { ConsoleWriter } from '../../../src/host/console/console-writer.ts'
import { until } from '../../support/until.ts'
import { pass } from '../leases/gateway.ts'
import { Machine, uuid } from './machine.ts'
import type { AgentOptions, LiveAgent } from './machine.ts'

export const stateful = { policy: 'idle', cooldownMs: 1_000, stateful: true } as const
export const instance = { instanceUuid: uuid }
export const slept = { ...instance, boot: 1, permit: 2 }
export const seat = '10.64.16.9'
const quietMs = 10_000
const soonMs = 10_000
export const oldPlace = { nodeId: 'old', address: '127.0.0.2' }
export const newPlace = { nodeId: 'new', address: '127.0.0.3' }

/** Two hosts, between which the instance moves. The row names the old one until `moveRow`. */
export class MoveScene {
  readonly old: Machine
  readonly new: Machine
  readonly spec: LaunchSpec
  #oldLive: LiveAgent | undefined
  #newLive: LiveAgent | undefined

  constructor(from: Machine, to: Machine) {
    this.old = from
    this.new = to
    from.meshAddress = oldPlace.address
    to.meshAddress = newPlace.address
    from.scalesToZero(stateful)
    const spec = from.specs.get(uuid)
    assert.ok(spec !== undefined)
    this.spec = { ...spec, env: { SECRET: 'hush' } }
    from.specs.set(uuid, this.spec)
    to.specs.delete(uuid)
  }

  static async make(): Promise<MoveScene> {
    return new MoveScene(await Machine.make(), await Machine.make())
  }

  get oldLive(): LiveAgent {
    assert.ok(this.#oldLive !== undefined)
    return this.#oldLive
  }

  get newLive(): LiveAgent {
    assert.ok(this.#newLive !== undefined)
    return this.#newLive
  }

  async openOld(options: AgentOptions = {}): Promise<LiveAgent> {
    this.#oldLive?.kill()
    await this.#oldLive?.written()
    this.#oldLive = await this.old.readyAgent(options)
    return this.#oldLive
  }

  async openNew(options: AgentOptions = {}): Promise<LiveAgent> {
    this.#newLive?.kill()
    await this.#newLive?.written()
    this.#newLive = await this.new.readyAgent(options)
    return this.#newLive
  }

  /** Opens the old host's agent, starts boot 1 and, after it printed a line, sends it to standby. */
  async asleep(options: AgentOptions = {}): Promise<void> {
    const { agent } = await this.openOld(options)
    await agent.start({ ...instance, boot: 1 })
    await new ConsoleWriter(this.oldLive.ports.store.consoleDirectory(uuid)).append(Buffer.from('hello\n'))
    pass(this.old, this.oldLive, quietMs)
    const epoch = agent.entries.get(uuid)?.hostLease.idle?.epoch ?? 0
    const result = await agent.standBy({ ...slept, epoch, stateful: true, graceMs: 0 })
    assert.equal(result.slept, true)
  }

  async hold(): Promise<number> {
    const held = await this.oldLive.agent.moves.hold({ ...slept, to: newPlace })
    assert.ok(held.held)
    return held.port
  }

  async fetch(port: number, live = this.newLive): Promise<FetchResult> {
    return await live.agent.moves.fetch({ ...slept, from: { ...oldPlace, port } })
  }

  /** The row names the new host from now on. */
  moveRow(): void {
    this.old.specs.delete(uuid)
    this.new.specs.set(uuid, { ...this.spec, seatIp: seat })
  }

  phases(): readonly (string | undefined)[] {
    return [this.#oldLive, this.#newLive].map((live) => live?.agent.entries.get(uuid)?.hostLease.phase)
  }

  async oldHasNothing(): Promise<void> {
    await until('the old host has nothing', () => !this.oldLive.agent.entries.has(uuid), { limitMs: soonMs })
  }

  async remove(): Promise<void> {
    for (const live of [this.#oldLive, this.#newLive]) live?.kill()
    await Promise.all([this.old.remove(), this.new.remove()])
  }
}
