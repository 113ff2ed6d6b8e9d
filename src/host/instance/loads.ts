import { loadReportIntervalMs } from '../../domain/standby/lease-protocol.ts'
import type { InstanceCounts, InstanceLoad } from '../../domain/standby/lease-protocol.ts'
import type { Usage } from '../../domain/instance/usage.ts'
import { machineClockMs } from '../agent/machine-clock.ts'

export type Load = Pick<Usage, 'connections' | 'requests' | 'queued'>

interface Report extends Load {
  readonly atMs: number
  readonly inFlight: number
  readonly handledPerSecond: number
}

/** What the gateways said of one instance last, and what they finished since that was written down. */
export class InstanceLoads {
  readonly #last = new Map<string, Report>()
  readonly #clockMs: () => number
  #handledMore = 0

  constructor(clockMs: () => number = machineClockMs) {
    this.#clockMs = clockMs
  }

  note(gateway: string, load: InstanceLoad): void {
    const { connections, requests, queued, inFlight, handledMore, handledTold = 0 } = load
    this.#handledMore += handledMore
    const handled = handledMore + handledTold
    if (connections + requests + queued + inFlight + handled === 0) {
      this.#last.delete(gateway)
      return
    }
    const atMs = this.#clockMs()
    const handledPerSecond = (handled / this.#coveredMs(gateway, atMs)) * 1_000
    this.#last.set(gateway, { connections, requests, queued, atMs, inFlight, handledPerSecond })
  }

  /** Between two reports: the rate and the mean stay those of the last report. */
  noteCounts(gateway: string, { connections, requests, queued, handledMore }: InstanceCounts): void {
    this.#handledMore += handledMore
    const before = this.#last.get(gateway)
    if (before === undefined && connections + requests + queued === 0) return
    const rates = before ?? { atMs: this.#clockMs(), inFlight: 0, handledPerSecond: 0 }
    this.#last.set(gateway, { ...rates, connections, requests, queued })
  }

  /**
   * Longer than the usual where a busy gateway was late; one that came early after a late one covers the
   * usual all the same.
   */
  #coveredMs(gateway: string, atMs: number): number {
    const before = this.#last.get(gateway)
    if (before === undefined || before.handledPerSecond === 0) return loadReportIntervalMs
    return Math.max(loadReportIntervalMs, atMs - before.atMs)
  }

  forget(gateway: string): void {
    this.#last.delete(gateway)
  }

  get handledMore(): number {
    return this.#handledMore
  }

  /** That many are in the books now. */
  written(handled: number): void {
    this.#handledMore -= handled
  }

  now(): Load {
    const sum = { connections: 0, requests: 0, queued: 0 }
    for (const load of this.#last.values()) {
      sum.connections += load.connections
      sum.requests += load.requests
      sum.queued += load.queued
    }
    return sum
  }

  /** In the mean over the interval of the last report of each gateway, and what waits. */
  get inFlight(): number {
    let sum = 0
    for (const { inFlight, queued } of this.#last.values()) sum += inFlight + queued
    return sum
  }

  /** By the last report of each gateway: one that follows another tells also that nothing was finished. */
  get handledPerSecond(): number {
    let sum = 0
    for (const report of this.#last.values()) sum += report.handledPerSecond
    return sum
  }
}
