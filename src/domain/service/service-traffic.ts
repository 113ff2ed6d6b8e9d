import { StartKind } from '../instance/start-report.ts'

/**
 * What a gateway counted of one service since its start. An API asks each gateway, `POST /services` with
 * `{ services: uuid[] }` and `Authorization: Bearer <gateway token>`, and the answer is `TrafficAnswer`.
 * Services without traffic are left out. Under the UUID of a rollout it has what the new version was given,
 * which counts for the service as well.
 */
export interface ServiceTraffic {
  /** Requests by the class of their status. */
  readonly requests: Readonly<Partial<Record<StatusClass, number>>>
  /** How long requests took, waits included. WebSockets are left out: they last as long as they like. */
  readonly durations: Durations
  /** How long hosts took to wake an instance of the service for its traffic. */
  readonly wakes: Readonly<Partial<Record<StartKind, Durations>>>
}

export interface TrafficAnswer {
  /** Another start of the gateway, whose counts begin at zero, has another name. */
  readonly run: string
  readonly traffic: Readonly<Record<string, ServiceTraffic>>
}

/**
 * A histogram. `counts` has the number of durations up to each bound and above the bound before it, and last
 * those above all bounds.
 */
export interface Durations {
  readonly counts: readonly number[]
  readonly seconds: number
}

/** Status 499: the client went away before its answer. */
export const statusClasses = ['1xx', '2xx', '3xx', '4xx', '499', '5xx'] as const
export type StatusClass = (typeof statusClasses)[number]

/** The bounds are few, because each makes one series per service and gateway. */
export const requestBoundsSeconds = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10] as const
/** From a restored snapshot to a boot on a busy machine. */
export const wakeBoundsSeconds = [0.1, 0.25, 0.5, 1, 2.5, 10] as const

/** How many services one request may ask for: as many as there are ports for, and more than anybody has. */
export const maxServicesAsked = 65_536

const clientGone = 499
const byFirstDigit = { 1: '1xx', 2: '2xx', 3: '3xx', 4: '4xx' } as const satisfies Record<number, StatusClass>

export function statusClassOf(status: number): StatusClass {
  if (status === clientGone) return '499'
  return byFirstDigit[Math.floor(status / 100) as keyof typeof byFirstDigit] ?? '5xx'
}

/** The index in `counts` of a duration. */
export function bucketOf(bounds: readonly number[], seconds: number): number {
  let bucket = 0
  while (bucket < bounds.length && seconds > (bounds[bucket] ?? 0)) bucket += 1
  return bucket
}

export function noDurations(bounds: readonly number[]): Durations {
  return { counts: Array<number>(bounds.length + 1).fill(0), seconds: 0 }
}

export const noTraffic: ServiceTraffic = {
  requests: {},
  durations: noDurations(requestBoundsSeconds),
  wakes: {},
}

/** Adds up two counts of the same service. */
export function addTraffic(a: ServiceTraffic, b: ServiceTraffic): ServiceTraffic {
  const requests: Partial<Record<StatusClass, number>> = { ...a.requests }
  for (const status of statusClasses) {
    const more = b.requests[status]
    if (more !== undefined) requests[status] = (requests[status] ?? 0) + more
  }
  const wakes: Partial<Record<StartKind, Durations>> = { ...a.wakes }
  for (const kind of Object.values(StartKind)) {
    const more = b.wakes[kind]
    if (more !== undefined) wakes[kind] = addDurations(wakes[kind] ?? noDurations(wakeBoundsSeconds), more)
  }
  return { requests, durations: addDurations(a.durations, b.durations), wakes }
}

function addDurations(a: Durations, b: Durations): Durations {
  return {
    counts: a.counts.map((count, index) => count + (b.counts[index] ?? 0)),
    seconds: a.seconds + b.seconds,
  }
}
