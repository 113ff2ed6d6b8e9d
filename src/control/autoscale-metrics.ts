import { Counter, Gauge, Histogram } from 'prom-client'
import type { Registry } from 'prom-client'
import type { WatchResult } from '../domain/autoscale/watch.ts'

/**
 * A round is one query and one request to each host. A silent host makes a round last half a second. If a
 * round takes longer than a second, the next ones are left out.
 */
const roundBucketsSeconds = [0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 1, 2, 5]
/** After this time without a round the gauges show 0: there are no watches, or nothing can be seen. */
const roundForgottenMs = 5_000

/** Metrics of the observer of autoscaled services, for Prometheus. */
export class AutoscaleMetrics {
  readonly #rounds: Histogram
  readonly #outcomes: Counter
  #last = { atMs: Number.NEGATIVE_INFINITY, services: 0, unknown: 0 }

  constructor(registry: Registry) {
    const registers = [registry]
    this.#rounds = new Histogram({
      name: 'roost_autoscale_round_seconds',
      help: 'How long one look at all autoscaled services takes.',
      buckets: roundBucketsSeconds,
      registers,
    })
    this.#outcomes = new Counter({
      name: 'roost_autoscale_outcomes_total',
      help: 'What looks at autoscaled services led to, by kind.',
      labelNames: ['kind'],
      registers,
    })
    const gauge = (name: string, help: string, of: 'services' | 'unknown'): Gauge => {
      const made: Gauge = new Gauge({
        name,
        help,
        registers,
        collect: () => made.set(performance.now() - this.#last.atMs > roundForgottenMs ? 0 : this.#last[of]),
      })
      return made
    }
    gauge('roost_autoscale_watched_services', 'Services that are looked at every second.', 'services')
    gauge(
      'roost_autoscale_unknown_services',
      'Of those, services with an instance whose host does not tell its load: none of theirs is given back.',
      'unknown',
    )
  }

  round({
    durationMs,
    services,
    unknown,
  }: Readonly<Record<'durationMs' | 'services' | 'unknown', number>>): void {
    this.#rounds.observe(durationMs / 1_000)
    this.#last = { atMs: performance.now(), services, unknown }
  }

  decided(kind: WatchResult['kind']): void {
    this.#outcomes.inc({ kind })
  }
}
