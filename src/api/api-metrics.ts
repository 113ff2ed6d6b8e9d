import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'

/** The metrics of one API process, in a registry of its own so that several can live in one test process. */
export interface ApiMetrics {
  readonly registry: Registry
  readonly requests: Counter<'route' | 'status'>
  readonly durations: Histogram<'route'>
  readonly inFlight: Gauge
  readonly rateLimited: Counter
}

/**
 * The upper bounds of the buckets, from a read without I/O to a start on a slow host. Requests that wait
 * may take longer: they count above the last bound.
 */
const durationBucketsSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export function createApiMetrics(): ApiMetrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  return {
    registry,
    requests: new Counter({
      name: 'roost_api_requests_total',
      help: 'Answered requests by route and HTTP status.',
      labelNames: ['route', 'status'],
      registers,
    }),
    durations: new Histogram({
      name: 'roost_api_request_duration_seconds',
      help: 'Time from a complete request head to the answer, waiting included.',
      labelNames: ['route'],
      buckets: durationBucketsSeconds,
      registers,
    }),
    inFlight: new Gauge({
      name: 'roost_api_requests_in_flight',
      help: 'Requests being answered.',
      registers,
    }),
    rateLimited: new Counter({
      name: 'roost_api_rate_limited_total',
      help: 'Requests refused because their token made too many.',
      registers,
    }),
  }
}
