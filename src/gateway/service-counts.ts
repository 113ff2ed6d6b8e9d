import type { StartKind } from '../domain/instance/start-report.ts'
import {
  bucketOf,
  noDurations,
  requestBoundsSeconds,
  statusClassOf,
  wakeBoundsSeconds,
} from '../domain/service/service-traffic.ts'
import type { Durations, ServiceTraffic, StatusClass } from '../domain/service/service-traffic.ts'
import { HttpProtocol } from './http/request-observer.ts'
import type { RequestReport } from './http/request-observer.ts'

/** The counts of some services by their UUIDs. */
export type TrafficOfServices = ReadonlyMap<string, ServiceTraffic>

type CountedRequest = Pick<RequestReport, 'serviceUuid' | 'status' | 'protocol' | 'totalUs'>

interface Counted {
  counts: number[]
  seconds: number
}

interface Counts extends ServiceTraffic {
  readonly requests: Partial<Record<StatusClass, number>>
  readonly durations: Durations & Counted
  readonly wakes: Partial<Record<StartKind, Durations & Counted>>
}

const usPerSecond = 1e6

/** What this process counted of each service since somebody last took it. */
export class ServiceCounts {
  #byService = new Map<string, Counts>()

  request({ serviceUuid, status, protocol, totalUs }: CountedRequest): void {
    if (serviceUuid === undefined) return
    const { requests, durations } = this.#of(serviceUuid)
    const statusClass = statusClassOf(status)
    requests[statusClass] = (requests[statusClass] ?? 0) + 1
    if (protocol !== HttpProtocol.WebSocket) count(durations, requestBoundsSeconds, totalUs)
  }

  woken(serviceUuid: string, { kind, wakeUs }: { readonly kind: StartKind; readonly wakeUs: number }): void {
    const { wakes } = this.#of(serviceUuid)
    count((wakes[kind] ??= empty(wakeBoundsSeconds)), wakeBoundsSeconds, wakeUs)
  }

  /** Returns the counts and begins again from zero. */
  take(): TrafficOfServices {
    const taken = this.#byService
    if (taken.size > 0) this.#byService = new Map()
    return taken
  }

  #of(serviceUuid: string): Counts {
    let counts = this.#byService.get(serviceUuid)
    if (counts === undefined) {
      counts = { requests: {}, durations: empty(requestBoundsSeconds), wakes: {} }
      this.#byService.set(serviceUuid, counts)
    }
    return counts
  }
}

function empty(bounds: readonly number[]): Durations & Counted {
  return { counts: [...noDurations(bounds).counts], seconds: 0 }
}

function count(into: Counted, bounds: readonly number[], us: number): void {
  const seconds = us / usPerSecond
  const bucket = bucketOf(bounds, seconds)
  into.counts[bucket] = (into.counts[bucket] ?? 0) + 1
  into.seconds += seconds
}
