import type { MemberLoad } from '../../src/domain/autoscale/members.ts'
import type { HostLoads } from '../../src/domain/host/api-protocol.ts'
import { noReadings, readSamples } from './samples.ts'
import type { Readings } from './samples.ts'

/**
 * How long a host's last readings count. A host may take a second to answer; the load of a host that is
 * silent for longer is unknown.
 */
export const longestSilenceMs = 1_500

/**
 * One host and the loads from its last answer. It is asked again only after its last request was answered or
 * failed.
 */
export class ObservedHost {
  #readings: Readings = noReadings
  #loads: ReadonlyMap<string, MemberLoad> = new Map()
  #heardMs = Number.NEGATIVE_INFINITY
  #asking = false
  /** The last time at which a service needed this host. */
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
   * Asks the host, and resolves when the host has answered or the request has failed. If an earlier request
   * is still open, resolves at once, so that nobody waits twice for a slow host. Never rejects.
   */
  async ask(instanceUuids: readonly string[]): Promise<void> {
    if (this.#asking) return
    this.#asking = true
    try {
      const { readings, loads } = readSamples(this.#readings, await this.#ask(instanceUuids))
      this.#readings = readings
      this.#loads = loads
      this.#heardMs = this.#nowMs()
    } catch {
      // The load of a silent host is unknown, and is reported as unknown. The host's own log tells what is
      // wrong with it.
    } finally {
      this.#asking = false
    }
  }

  /**
   * The load of an instance. Undefined if the load is not known, or if the host's last answer is too old.
   */
  loadOf(instanceUuid: string): MemberLoad | undefined {
    return this.#nowMs() - this.#heardMs > longestSilenceMs ? undefined : this.#loads.get(instanceUuid)
  }
}
