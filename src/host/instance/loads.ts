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

/**
 * The last reports of the gateways about one instance, and the requests that they finished since the last
 * write to the record.
 */
export class InstanceLoads {
  readonly #last = new Map<string, Report>()
  readonly #clockMs: () => number
  #handledMore = 0
  #inFlightMs = 0

  constructor(clockMs: () => number = machineClockMs) {
    this.#clockMs = clockMs
  }

  note(gateway: string, load: InstanceLoad): void {
    const { connections, requests, queued, inFlight, handledMore, handledTold = 0 } = load
    this.#handledMore += handledMore
    this.#addInFlight(gateway, inFlight + queued)
    const handled = handledMore + handledTold
    if (connections + requests + queued + inFlight + handled === 0) {
      this.#last.delete(gateway)
      return
    }
    const atMs = this.#clockMs()
    const handledPerSecond = (handled / this.#coveredMs(gateway, atMs)) * 1_000
    this.#last.set(gateway, { connections, requests, queued, atMs, inFlight, handledPerSecond })
  }

  /** Takes counts between two reports. The rate and the mean stay those of the last report. */
  noteCounts(gateway: string, { connections, requests, queued, handledMore }: InstanceCounts): void {
    this.#handledMore += handledMore
    const before = this.#last.get(gateway)
    if (before === undefined && connections + requests + queued === 0) return
    const rates = before ?? { atMs: this.#clockMs(), inFlight: 0, handledPerSecond: 0 }
    this.#last.set(gateway, { ...rates, connections, requests, queued })
  }

  /**
   * The time that a report covers. It is longer than the usual interval if a busy gateway was late. A report
   * that comes early after a late one counts with the usual interval.
   */
  #coveredMs(gateway: string, atMs: number): number {
    const before = this.#last.get(gateway)
    if (before === undefined || before.handledPerSecond === 0) return loadReportIntervalMs
    return Math.max(loadReportIntervalMs, atMs - before.atMs)
  }

  forget(gateway: string): void {
    this.#addInFlight(gateway, 0)
    this.#last.delete(gateway)
  }

  get handledMore(): number {
    return this.#handledMore
  }

  /** Requests in flight and waiting ones, times how long they were, since this agent began. */
  get inFlightMs(): number {
    const nowMs = this.#clockMs()
    return [...this.#last.values()].reduce((sum, last) => sum + unreportedMs(last, nowMs), this.#inFlightMs)
  }

  /** Adds what a report says of the interval before it. Until then all was as in the report before. */
  #addInFlight(gateway: string, inFlight: number): void {
    const atMs = this.#clockMs()
    const before = this.#last.get(gateway)
    const sinceMs = before === undefined ? Infinity : atMs - before.atMs
    this.#inFlightMs += before === undefined ? 0 : unreportedMs(before, atMs)
    this.#inFlightMs += inFlight * Math.min(sinceMs, loadReportIntervalMs)
  }

  /** Called when this many finished requests were written to the record. */
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

  /**
   * The requests in flight, in the mean over the interval of each gateway's last report, and those that
   * wait.
   */
  get inFlight(): number {
    let sum = 0
    for (const { inFlight, queued } of this.#last.values()) sum += inFlight + queued
    return sum
  }

  /**
   * The rate of finished requests by each gateway's last report. After requests were finished, a gateway
   * sends another report even if there were none since, so the rate goes back to 0.
   */
  get handledPerSecond(): number {
    let sum = 0
    for (const report of this.#last.values()) sum += report.handledPerSecond
    return sum
  }
}

/** A gateway reports a load that has not changed only once: it goes on, and the next report ends it. */
function unreportedMs({ inFlight, queued, atMs }: Report, nowMs: number): number {
  return (inFlight + queued) * Math.max(0, nowMs - atMs - loadReportIntervalMs)
}
