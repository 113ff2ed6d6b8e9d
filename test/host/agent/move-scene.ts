import assert from 'node:assert/strict'
import { open } from 'node:fs/promises'
import type { FetchResult, MovedVolume } from '../../../src/domain/instance/host-work.ts'
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

/** A volume that is small, so that tests are quick. */
export const smallVolume = { sizeMb: 1, made: true } as const
export const precious = 'what nobody may lose'

/** Two hosts, between which the instance moves. The row names the old one until `moveRow`. */
export class MoveScene {
  readonly old: Machine
  readonly new: Machine
  readonly spec: LaunchSpec
  /** The volume of the instance, if the old machine's launch spec has one. */
  readonly volume: MovedVolume | undefined
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
    const { volume } = spec
    this.volume = volume && { uuid: volume.uuid, sizeMb: volume.sizeMb }
    if (volume === undefined) return
    from.placeOf?.set(volume.uuid, 'here')
    to.placeOf?.set(volume.uuid, 'elsewhere')
  }

  static async make({ hasVolume = false } = {}): Promise<MoveScene> {
    const [from, to] = [await Machine.make(), await Machine.make()]
    if (hasVolume) from.attach(uuid, smallVolume)
    return new MoveScene(from, to)
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

  /** Makes the volume, if there is one, with something in it. */
  async makeVolume(): Promise<void> {
    if (this.volume === undefined || this.old.volumes.made.has(this.volume.uuid)) return
    await this.old.volumes.make(this.volume)
    const file = await open(this.old.volumes.contentOf(this.volume.uuid), 'r+')
    await file.write(precious, 700_000)
    await file.close()
  }

  /** Opens the old host's agent, starts boot 1 and, after it printed a line, sends it to standby. */
  async asleep(options: AgentOptions = {}): Promise<void> {
    await this.makeVolume()
    const { agent } = await this.openOld(options)
    await agent.start({ ...instance, boot: 1 })
    await new ConsoleWriter(this.oldLive.ports.store.consoleDirectory(uuid)).append(Buffer.from('hello\n'))
    pass(this.old, this.oldLive, quietMs)
    const epoch = agent.entries.get(uuid)?.hostLease.idle?.epoch ?? 0
    const result = await agent.standBy({ ...slept, epoch, stateful: true, graceMs: 0 })
    assert.equal(result.slept, true)
  }

  get #moved() {
    return this.volume === undefined ? {} : { volume: this.volume }
  }

  async hold(rest: { readonly boot: number; readonly permit?: number } = slept): Promise<number> {
    const held = await this.oldLive.agent.moves.hold({ ...instance, ...rest, ...this.#moved, to: newPlace })
    assert.ok(held.held)
    return held.port
  }

  async fetch(
    port: number,
    {
      live = this.newLive,
      rest = slept,
    }: { live?: LiveAgent; rest?: { readonly boot: number; readonly permit?: number } } = {},
  ): Promise<FetchResult> {
    const from = { ...oldPlace, port }
    return await live.agent.moves.fetch({ ...instance, ...rest, ...this.#moved, from })
  }

  /** The row names the new host from now on. */
  moveRow(): void {
    this.old.specs.delete(uuid)
    this.new.specs.set(uuid, { ...this.spec, seatIp: seat })
    if (this.volume === undefined) return
    this.old.placeOf?.set(this.volume.uuid, 'elsewhere')
    this.new.placeOf?.set(this.volume.uuid, 'here')
  }

  /** The new host has the instance asleep, and it moves back to the old one, whose it is from then on. */
  async moveBack(): Promise<void> {
    const order = { ...slept, ...this.#moved }
    const held = await this.newLive.agent.moves.hold({ ...order, to: oldPlace })
    assert.ok(held.held)
    await this.oldLive.agent.moves.fetch({ ...order, from: { ...newPlace, port: held.port } })
    this.old.specs.set(uuid, this.spec)
    this.new.specs.delete(uuid)
    if (this.volume !== undefined) {
      this.old.placeOf?.set(this.volume.uuid, 'here')
      this.new.placeOf?.set(this.volume.uuid, 'elsewhere')
    }
    await this.oldLive.agent.moves.take(instance)
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
