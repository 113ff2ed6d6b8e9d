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

/** The counts of some services by their UUIDs, and of the new versions of rollouts by the rollouts' UUIDs. */
export type TrafficOfServices = ReadonlyMap<string, ServiceTraffic>

type CountedRequest = Pick<RequestReport, 'serviceUuid' | 'rolloutUuid' | 'status' | 'protocol' | 'totalUs'>

export interface CountedWake {
  readonly serviceUuid: string
  /** The rollout of whose new version the instance is; undefined if there is none. */
  readonly rolloutUuid: string | undefined
  readonly kind: StartKind
  readonly wakeUs: number
}

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

/**
 * What this process counted of each service since somebody last took it. What the new version of a rollout
 * was given counts twice: for the service and for the rollout.
 */
export class ServiceCounts {
  #byUuid = new Map<string, Counts>()

  request(report: CountedRequest): void {
    const { serviceUuid, rolloutUuid } = report
    if (serviceUuid === undefined) return
    this.#request(serviceUuid, report)
    if (rolloutUuid !== undefined) this.#request(rolloutUuid, report)
  }

  /** A request that the new version could not serve: it is a failure for the rollout, and for nobody else. */
  fellBack(report: CountedRequest): void {
    if (report.rolloutUuid !== undefined) this.#request(report.rolloutUuid, report)
  }

  woken(wake: CountedWake): void {
    this.#woken(wake.serviceUuid, wake)
    if (wake.rolloutUuid !== undefined) this.#woken(wake.rolloutUuid, wake)
  }

  /** Returns the counts and begins again from zero. */
  take(): TrafficOfServices {
    const taken = this.#byUuid
    if (taken.size > 0) this.#byUuid = new Map()
    return taken
  }

  #request(uuid: string, { status, protocol, totalUs }: CountedRequest): void {
    const { requests, durations } = this.#of(uuid)
    const statusClass = statusClassOf(status)
    requests[statusClass] = (requests[statusClass] ?? 0) + 1
    if (protocol !== HttpProtocol.WebSocket) count(durations, requestBoundsSeconds, totalUs)
  }

  #woken(uuid: string, { kind, wakeUs }: CountedWake): void {
    const { wakes } = this.#of(uuid)
    count((wakes[kind] ??= empty(wakeBoundsSeconds)), wakeBoundsSeconds, wakeUs)
  }

  #of(uuid: string): Counts {
    let counts = this.#byUuid.get(uuid)
    if (counts === undefined) {
      counts = { requests: {}, durations: empty(requestBoundsSeconds), wakes: {} }
      this.#byUuid.set(uuid, counts)
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
