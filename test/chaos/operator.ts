import { setTimeout as delay } from 'node:timers/promises'
import type { Dice } from '../sim/dice.ts'
import type { OperationId } from '../../src/contract/operations.ts'
import type { CallInput } from '../support/api-client.ts'
import { always } from '../support/autoscaled-service.ts'
import { until } from '../support/until.ts'
import { furtherHosts, hostNames } from './chaos-scene.ts'
import type { ChaosScene, FurtherHost } from './chaos-scene.ts'
import { ledgerNames } from './fleet.ts'
import type { Fleet } from './fleet.ts'

/** How long a call may be refused or unanswered until it counts as lost. */
const acceptLimitMs = 180_000
const pauseMs = { least: 1_500, most: 5_000 }
/** No more instances that come and go than this at once. */
const mostPassers = 2

/** What an administrator and a user asked for during a run, and what has to hold of it at the end. */
export interface Wishes {
  readonly stopped: ReadonlySet<string>
  /** UUIDs by name, of instances that are to be there. */
  readonly passers: ReadonlyMap<string, string>
  readonly deleted: ReadonlySet<string>
  readonly size: number
}

type Deed = (dice: Dice) => Promise<string | undefined>

/** Carries out one operation after the other, and insists on each until it is accepted. */
export class Operator implements Wishes {
  readonly stopped = new Set<string>()
  readonly passers = new Map<string, string>()
  readonly deleted = new Set<string>()
  size = 1
  readonly counts = new Map<string, number>()
  /** Calls that were never accepted. */
  readonly broken: string[] = []
  readonly #scene: ChaosScene
  readonly #fleet: Fleet
  readonly #say: (text: string) => void
  readonly #cordoned = new Set<FurtherHost>()
  #made = 0
  #isOver = false
  #going: Promise<void> | undefined

  constructor(scene: ChaosScene, fleet: Fleet, say: (text: string) => void) {
    this.#scene = scene
    this.#fleet = fleet
    this.#say = say
  }

  begin(dice: Dice): void {
    this.#going = this.#go(dice)
  }

  /** Ends, and takes back what keeps hosts from taking instances. */
  async end(): Promise<void> {
    this.#isOver = true
    await this.#going
    for (const host of this.#cordoned) await this.#insist('uncordonHosts', { object: host })
  }

  async #go(dice: Dice): Promise<void> {
    while (!this.#isOver) {
      const [name, deed] = dice.pick(Object.entries<Deed>(this.#deeds))
      try {
        const told = await deed(dice)
        if (told !== undefined) {
          this.counts.set(name, (this.counts.get(name) ?? 0) + 1)
          this.#say(`operation: ${told}`)
        }
      } catch (error) {
        this.broken.push(`operation '${name}': ${String(error)}`)
      }
      await delay(dice.between(pauseMs.least, pauseMs.most))
    }
  }

  readonly #deeds = {
    'stop or start': async (dice: Dice) => {
      const member = this.#fleet.ledgers[dice.pick(['plain', 'disk'] as const)]
      if (this.stopped.delete(member.name)) {
        await this.#insist('startInstances', { object: member.uuid })
        return `start ${member.name}`
      }
      this.stopped.add(member.name)
      await this.#insist('stopInstances', { object: member.uuid })
      return `stop ${member.name}`
    },

    suspend: async () => {
      const { name, uuid } = this.#fleet.ledgers.warm
      return (await this.#try('suspendInstances', { object: uuid, body: {} })) ? `suspend ${name}` : undefined
    },

    /** A move is refused for good reasons, such as a host that is silent. */
    move: async (dice: Dice) => {
      const names = ledgerNames.filter((name) => !this.#fleet.ledgers[name].hasVolume)
      const { name, uuid } = dice.chance(0.3) ? this.#fleet.talker : this.#fleet.ledgers[dice.pick(names)]
      const host = dice.pick(hostNames)
      return (await this.#try('moveInstances', { object: uuid, body: { host } }))
        ? `move ${name} to ${host}`
        : undefined
    },

    'drain or uncordon': async (dice: Dice) => {
      const [cordoned] = this.#cordoned
      if (cordoned !== undefined) {
        await this.#insist('uncordonHosts', { object: cordoned })
        this.#cordoned.delete(cordoned)
        return `uncordon ${cordoned}`
      }
      const host = dice.pick(furtherHosts)
      this.#cordoned.add(host)
      await this.#insist('drainHosts', { object: host })
      return `drain ${host}`
    },

    'create or delete': async (dice: Dice) => {
      const [oldest] = this.passers
      if (oldest !== undefined && (this.passers.size >= mostPassers || dice.chance(0.4))) {
        const [name, uuid] = oldest
        await this.#insist('deleteInstances', { object: uuid }, isGone)
        this.passers.delete(name)
        this.deleted.add(uuid)
        return `delete ${name}`
      }
      const name = `passer-${++this.#made}`
      await this.#insist(
        'createInstances',
        { body: { name, image: 'counter', autostart: true, restart_policy: 'always' } },
        isThere,
      )
      const found = await this.#insist('getInstances', { object: name })
      this.passers.set(name, found)
      return `create ${name}`
    },

    scale: async (dice: Dice) => {
      const { uuid: owner } = this.#fleet.scaled
      const before = this.size
      const size = dice.whole(1, 3)
      if (size === before) return undefined
      await this.#insist('addAutoscalePolicies', { owner, body: always(size) }, isThere)
      await this.#insist('deleteAutoscalePolicies', { owner, object: always(before).name }, isGone)
      this.size = size
      return `scale to ${size}`
    },
  } satisfies Readonly<Record<string, Deed>>

  /**
   * Whether it was accepted. A call without an answer may have been, so it is one that changes no wish.
   */
  async #try(id: OperationId, input: CallInput): Promise<boolean> {
    const answer = await this.#scene.stack.api.attempt(id, input).catch(() => undefined)
    return answer?.status === 'success'
  }

  /**
   * Repeats a call until it is accepted, because a part may be away. `isDone` tells of a refusal that it
   * was accepted before, without an answer. Returns the UUID of the object.
   */
  async #insist(
    id: OperationId,
    input: CallInput,
    isDone: (message: string) => boolean = () => false,
  ): Promise<string> {
    let last = 'no answer'
    return await until(
      `${id} of ${input.object ?? input.owner ?? 'a new object'} is accepted`,
      async () => {
        try {
          const answer = await this.#scene.stack.api.attempt(id, input)
          const [entry] = answer.entries as readonly { uuid?: string; message?: string }[]
          last = entry?.message ?? answer.errors[0]?.message ?? answer.status
          return answer.status === 'success' || isDone(last) ? (entry?.uuid ?? 'done') : undefined
        } catch (error) {
          last = String(error)
          return undefined
        }
      },
      { limitMs: acceptLimitMs },
    ).catch((cause: unknown) => {
      throw new Error(`${String(cause)}; it said last: ${last}`)
    })
  }
}

const isThere = (message: string): boolean => message.includes('already exists')
const isGone = (message: string): boolean => /no .* (with|named)|not found|does not exist/i.test(message)
