import { withWish } from '../../domain/host/placement.ts'
import type { PlacementWish } from '../../domain/host/placement.ts'
import type { Candidate } from './placement-candidates.ts'

/** After this time a placement reads all hosts anew. */
const goodMs = 200
/** The longest time that hosts are remembered while a placement reads them anew. */
const mostMs = 2 * goodMs

/**
 * What one process knows of the hosts among which it places instances: what they had promised when they
 * were read last, with what the process has placed there since. It is only good for a choice. What others
 * placed meanwhile is missing, so the chosen host has to be locked and read again, and a refusal needs
 * hosts that were read anew.
 */
export class RememberedHosts {
  readonly #nowMs: () => number
  #hosts: ReadonlyMap<string, Candidate> = new Map()
  #rereadAtMs = 0
  #forgetAtMs = 0

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /**
   * The hosts with these ids, without what they have of a service. Undefined: the caller has to read them
   * all and to `remember` them. One caller at a time is told so; until it has done it, the others get what
   * is remembered.
   */
  recall(ids: readonly string[]): readonly Candidate[] | undefined {
    const nowMs = this.#nowMs()
    if (nowMs >= this.#forgetAtMs) return undefined
    if (nowMs >= this.#rereadAtMs) {
      this.#rereadAtMs = Number.POSITIVE_INFINITY
      return undefined
    }
    const hosts = ids.flatMap((id) => this.#hosts.get(id) ?? [])
    return hosts.length === ids.length ? hosts : undefined
  }

  /** Takes the place of all that is remembered. */
  remember(hosts: readonly Candidate[]): void {
    const nowMs = this.#nowMs()
    this.#hosts = new Map(hosts.map((host) => [host.id, host]))
    this.#rereadAtMs = nowMs + goodMs
    this.#forgetAtMs = nowMs + mostMs
  }

  /** Notes what is placed on these hosts. If the transaction fails, too much is noted. */
  note(hosts: readonly Candidate[], wish: PlacementWish): void {
    const changed = new Map(this.#hosts)
    for (const [id, same] of Map.groupBy(hosts, (host) => host.id))
      changed.set(
        id,
        same.reduce((host) => withWish(host, wish), same[0]!),
      )
    this.#hosts = changed
  }
}
