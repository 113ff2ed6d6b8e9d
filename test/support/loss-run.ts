import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { losses } from './host-losses.ts'
import type { LossWay } from './host-losses.ts'
import type { InstanceView } from './instances.ts'
import { lostHost } from './loss-scene.ts'
import type { LossScene } from './loss-scene.ts'
import { monotonicMs } from './monotonic-clock.ts'
import { virtualMachinesByInstance } from './processes.ts'
import { untilAsleep } from './published-instance.ts'
import { keptAt, tellingGuest, tellingPort } from './telling-guest.ts'
import { until } from './until.ts'
import { untilAnotherBoot } from './witness.ts'
import type { PublicQuestions } from './witness.ts'

/** The instances of a run. All but `disk` have no volume. */
const kinds = {
  plain: {},
  warm: { scale_to_zero: { policy: 'on', cooldown_time_ms: 1_000, stateful: true } },
  cold: { scale_to_zero: { policy: 'on', cooldown_time_ms: 1_000 } },
  disk: { volumes: [{ size_mb: 16, at: keptAt }] },
} as const
type Kind = keyof typeof kinds
const movable = ['plain', 'warm', 'cold'] as const satisfies readonly Kind[]
const sleepers = ['warm', 'cold'] as const satisfies readonly Kind[]

interface Member {
  readonly name: string
  readonly uuid: string
  readonly publicName: string
}

export interface LossPlan {
  readonly way: LossWay
  /** Whether the sleepers are kept awake until the loss. */
  readonly awake: boolean
  /**
   * When the host comes back, for a loss that may end before the host counts as lost (`loseBriefly`). Absent:
   * only after its instances run on other hosts.
   */
  readonly backAfterMs?: number
}

/** Times in milliseconds. Those of the loss count from the loss, those of the return from the return. */
export interface LossFigures {
  declaredMs?: number
  /** The last answer of a VM of the lost host. Undefined if none came after the loss. */
  lastOldMs?: number
  elsewhereMs: Partial<Record<Kind, number>>
  /** The shortest time between the last answer of an old boot and the beginning of the next one. */
  gapMs?: number
  liveMs?: number
  diskMs?: number
}

const startLimitMs = 60_000
/** What the control plane has beyond the term until its instances begin elsewhere. */
const placedWithinMs = 10_000
/** The start of three VMs at once, on a machine that runs other tests beside them. */
const startsWithinMs = 30_000
const returnLimitMs = 90_000
const followPauseMs = 300
/** How long the witness goes on when all is over, so that a late answer of an old VM is seen. */
const watchAfterMs = 2_000

let runs = 0

/** One loss of a host, stage after stage in the order of the methods. */
export class LossRun {
  readonly figures: LossFigures = { elsewhereMs: {} }
  readonly plan: LossPlan
  readonly #scene: LossScene
  readonly #members = new Map<Kind, Member>()
  readonly #asked = new Map<Kind, PublicQuestions>()
  /** The boots that answered before the loss. */
  readonly #before = new Set<string>()
  #firstWord = ''
  #lostMs = 0
  #backMs = 0
  #following: Promise<void> = Promise.resolve()
  #isOver = false

  constructor(scene: LossScene, plan: LossPlan) {
    this.#scene = scene
    this.plan = plan
  }

  /** Begins the instances on the host that gets lost. Each has answered, and sleeps if it is to. */
  async begin(): Promise<void> {
    const { stack, witness, placeOn } = this.#scene
    const turn = ++runs
    await placeOn(lostHost)
    await Promise.all(
      Object.keys(kinds).map(async (kind) => this.#members.set(kind as Kind, await this.#create(kind, turn))),
    )
    for (const [kind, { name, uuid }] of this.#members) {
      const { host, private_ip: address = '' } = await this.#view(uuid)
      assert.equal(host, lostHost, name)
      this.#ask(kind)
      witness.askDirectly(lostHost, address)
      await untilAnotherBoot(witness, { instance: name, known: this.#before, limitMs: startLimitMs })
    }
    await placeOn('all')
    if (!this.plan.awake) {
      for (const kind of sleepers) await this.#asked.get(kind)?.end()
      for (const kind of sleepers) await untilAsleep(stack, this.#member(kind).uuid)
    }
    for (const { name } of this.#members.values())
      for (const { boot } of witness.record.boots(name)) this.#before.add(boot)
    this.#firstWord = witness.keptBy(this.#member('disk').name) ?? ''
    assert.ok(this.#before.has(this.#firstWord), 'the volume has the word of its first boot')
  }

  /** Loses the host, and waits until all instances without a volume answer on other hosts. */
  async lose(): Promise<void> {
    const { witness, termS } = this.#scene
    await this.#loseHost()
    const limitMs = termS * 1_000 + placedWithinMs + startsWithinMs
    for (const kind of movable) {
      const { name, uuid } = this.#member(kind)
      const { firstMs } = await untilAnotherBoot(witness, {
        instance: name,
        known: this.#before,
        limitMs: Math.max(0, this.#lostMs + limitMs - monotonicMs()),
      })
      this.figures.elsewhereMs[kind] = firstMs - this.#lostMs
      assert.notEqual((await this.#view(uuid)).host, lostHost, name)
    }
  }

  /** Verifies what is said of the lost host, and that the instance with a volume waits for it. */
  async verifyWaiting(): Promise<string> {
    const { lost, roost, witness } = this.#scene
    const { name, uuid } = this.#member('disk')
    assert.match((await roost.run(['host', 'list', lostHost])).out, /^h2 +lost/m)
    const { out } = await roost.run(['explain', name])
    assert.match(out, /h2/)
    assert.match(out, /lost/)
    assert.match(out, /volume/)
    const { host, state } = await this.#view(uuid)
    assert.equal(host, lostHost)
    assert.notEqual(state, 'running')
    assert.deepEqual(
      witness.record.boots(name).filter(({ boot }) => !this.#before.has(boot)),
      [],
      'no other boot of it answered',
    )
    if (losses[this.plan.way].endsMachines)
      assert.deepEqual([...virtualMachinesByInstance(lost.dataDir)], [], 'no VM is left on the lost host')
    return out
  }

  /** Brings the host back, and waits until it has cleared up and runs the instance with the volume again. */
  async bringBack(): Promise<void> {
    const { lost, roost, witness } = this.#scene
    const { name, uuid } = this.#member('disk')
    this.#backMs = monotonicMs()
    await losses[this.plan.way].bringBack(lost, witness.pids)
    this.#ask('disk')
    const isLive = async () => /^h2 +live/m.test((await roost.run(['host', 'list', lostHost])).out)
    await until('the host is live again', isLive, { limitMs: returnLimitMs })
    const known = this.#before
    const { firstMs } = await untilAnotherBoot(witness, { instance: name, known, limitMs: returnLimitMs })
    this.figures.diskMs = firstMs - this.#backMs
    assert.equal(witness.keptBy(name), this.#firstWord, 'it has its data')
    assert.equal((await this.#view(uuid)).host, lostHost)
    const hasItAlone = () => this.#kept().join() === uuid
    await until('the host has this instance alone', hasItAlone, { limitMs: returnLimitMs })
    assert.deepEqual([...virtualMachinesByInstance(lost.dataDir).keys()], [uuid])
    await delay(watchAfterMs)
  }

  /**
   * Loses the host and brings it back so soon that it may not count as lost. Waits until all instances answer
   * again, wherever they are, and until the host has those alone that are placed there.
   */
  async loseBriefly(backAfterMs: number): Promise<void> {
    const { lost, roost, witness } = this.#scene
    await this.#loseHost()
    await delay(Math.max(0, this.#lostMs + backAfterMs - monotonicMs()))
    this.#backMs = monotonicMs()
    await losses[this.plan.way].bringBack(lost, witness.pids)
    this.#ask('disk')
    for (const [kind, { name }] of this.#members) {
      const seen = () => witness.record.boots(name).find(({ lastSentMs }) => lastSentMs > this.#backMs)
      const { boot, firstMs } = await until(`${name} answers again`, seen, { limitMs: returnLimitMs })
      if (!this.#before.has(boot)) this.figures.elsewhereMs[kind] = firstMs - this.#lostMs
    }
    this.figures.diskMs = monotonicMs() - this.#backMs
    assert.equal(witness.keptBy(this.#member('disk').name), this.#firstWord, 'it has its data')
    const isLive = async () => /^h2 +live/m.test((await roost.run(['host', 'list', lostHost])).out)
    await until('the host is live again', isLive, { limitMs: returnLimitMs })
    const hasItsOwn = async () => isDeepStrictEqual(this.#kept(), await this.#placedThere())
    await until('the host has its own instances alone', hasItsOwn, { limitMs: returnLimitMs })
    await delay(watchAfterMs)
  }

  /** Returns every proof that an instance had two VMs at once, and measures how far it was from that. */
  proofsOfTwo(): readonly string[] {
    const { record } = this.#scene.witness
    for (const { name } of this.#members.values()) {
      const boots = record.boots(name)
      for (const [index, { boot, lastMs }] of boots.entries()) {
        const next = boots[index + 1]
        if (!this.#before.has(boot)) continue
        if (lastMs > this.#lostMs)
          this.figures.lastOldMs = Math.max(this.figures.lastOldMs ?? 0, lastMs - this.#lostMs)
        if (next !== undefined && !this.#before.has(next.boot))
          this.figures.gapMs = Math.min(this.figures.gapMs ?? Infinity, next.begunMs - lastMs)
      }
    }
    return [...this.#members.values()].flatMap(({ name }) => record.proofsOfTwo(name))
  }

  /** Asks nobody any more, and leaves everything as it is. */
  async abandon(): Promise<void> {
    this.#isOver = true
    await this.#following
    await Promise.all([...this.#asked.values()].map(async (asked) => await asked.end()))
  }

  /** Deletes what the run made. The scene is ready for the next run. */
  async end(): Promise<void> {
    await this.abandon()
    const { api } = this.#scene.stack
    // Their services go with them.
    for (const { uuid } of this.#members.values()) await api.one('deleteInstances', { object: uuid })
  }

  async #loseHost(): Promise<void> {
    const { lost, witness } = this.#scene
    this.#lostMs = monotonicMs()
    await losses[this.plan.way].lose(lost, witness.pids)
    this.#following = this.#follow()
    // The one with a volume is asked directly alone: requests that wait for it would fill the gateway.
    this.#asked.get('disk')?.stop()
    if (!this.plan.awake) for (const kind of sleepers) this.#ask(kind)
  }

  /** The instances in the directory of the host that was lost. */
  #kept(): readonly string[] {
    return readdirSync(path.join(this.#scene.lost.dataDir, 'agent', 'instances')).toSorted()
  }

  async #placedThere(): Promise<readonly string[]> {
    const found: string[] = []
    for (const { uuid } of this.#members.values())
      if ((await this.#view(uuid)).host === lostHost) found.push(uuid)
    return found.toSorted()
  }

  async #create(kind: string, turn: number): Promise<Member> {
    const name = `${kind}-${turn}`
    const created = await this.#scene.stack.api.one('createInstances', {
      body: {
        name,
        ...tellingGuest,
        ...kinds[kind as Kind],
        // What ends on a host that does not count as lost is started again by this policy alone.
        ...(this.plan.backAfterMs !== undefined && { restart_policy: 'always' }),
        autostart: true,
        wait_timeout_ms: startLimitMs,
        service_group: {
          services: [{ port: 443, destination_port: tellingPort, handlers: ['http', 'tls'] }],
          domains: [{ name }],
        },
      },
    })
    const publicName = created.service_group?.domains[0]?.fqdn
    if (publicName === undefined) throw new Error(`${name} has no public name`)
    return { name, uuid: created.uuid, publicName }
  }

  /** Looks all the time where the instances are placed, and whether the host counts as lost. */
  async #follow(): Promise<void> {
    for (; !this.#isOver; await delay(followPauseMs)) {
      // The next look asks again what this one could not find out.
      await this.#look().catch(() => undefined)
    }
  }

  async #look(): Promise<void> {
    const { stack, witness } = this.#scene
    for (const { uuid } of this.#members.values()) {
      const { host, private_ip: address } = await this.#view(uuid)
      if (host !== undefined && address !== undefined) witness.askDirectly(host, address)
    }
    const hosts: readonly { name: string; state: string }[] = await stack.api.call('getHosts', {})
    const state = hosts.find(({ name }) => name === lostHost)?.state
    if (state === 'lost') this.figures.declaredMs ??= monotonicMs() - this.#lostMs
    if (state === 'live' && this.#backMs > 0) this.figures.liveMs ??= monotonicMs() - this.#backMs
  }

  #ask(kind: Kind): void {
    this.#asked.set(kind, this.#scene.witness.askPublicly(this.#member(kind).publicName))
  }

  #member(kind: Kind): Member {
    const member = this.#members.get(kind)
    if (member === undefined) throw new Error(`there is no instance '${kind}'`)
    return member
  }

  /** Without metrics, for which a lost host would be waited for. */
  async #view(object: string): Promise<InstanceView> {
    return await this.#scene.stack.api.one('getInstances', { object })
  }
}
