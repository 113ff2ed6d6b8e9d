import type { MemberLoad } from '../../src/domain/autoscale/members.ts'
import type { HostLoads } from '../../src/domain/host/api-protocol.ts'
import { noReadings, readSamples } from './samples.ts'
import type { Readings } from './samples.ts'

/**
 * What a host said counts for so long: the load of one that needs a second for its answer is known all the
 * same, that of a silent one is not.
 */
export const longestSilenceMs = 1_500

/**
 * One host, as its answers tell it. It is asked again only when it has answered, or cannot be waited for any
 * longer.
 */
export class ObservedHost {
  #readings: Readings = noReadings
  #loads: ReadonlyMap<string, MemberLoad> = new Map()
  #heardMs = Number.NEGATIVE_INFINITY
  #asking = false
  /** When somebody wanted to know something of it last. */
  wantedMs = 0
  readonly #ask: (instanceUuids: readonly string[]) => Promise<HostLoads>
  readonly #nowMs: () => number

  constructor(options: {
    readonly ask: (instanceUuids: readonly string[]) => Promise<HostLoads>
    readonly nowMs: () => number
  }) {
    this.#ask = options.ask
    this.#nowMs = options.nowMs
  }

  /**
   * Resolves with its answer or failure; at once where an answer is still out: whoever is slow is not waited
   * for twice. Never rejects.
   */
  async look(instanceUuids: readonly string[]): Promise<void> {
    if (this.#asking) return
    this.#asking = true
    try {
      const { readings, loads } = readSamples(this.#readings, await this.#ask(instanceUuids))
      this.#readings = readings
      this.#loads = loads
      this.#heardMs = this.#nowMs()
    } catch {
      // A silent host is an unknown load, and said to be that; its own troubles are in the log of whoever
      // keeps it.
    } finally {
      this.#asking = false
    }
  }

  /** Undefined where it is not known, or not any more. */
  loadOf(instanceUuid: string): MemberLoad | undefined {
    return this.#nowMs() - this.#heardMs > longestSilenceMs ? undefined : this.#loads.get(instanceUuid)
  }
}
