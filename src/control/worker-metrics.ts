import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import { showPool } from '../db/pool-metrics.ts'
import type { Database } from '../db/database.ts'
import { AutoscaleMetrics } from './autoscale-metrics.ts'
import type { SweepResult } from './sweep.ts'

/**
 * The buckets reach from a write that PostgreSQL carries out at once, in 1 ms, to one that waits for many
 * others.
 */
const writeBucketsSeconds = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5]

type Activity = (input: never) => Promise<unknown>

/** The worker's own metrics for Prometheus. The metrics of Temporal's SDK are appended to them. */
export class WorkerMetrics {
  readonly #registry = new Registry()
  readonly autoscale = new AutoscaleMetrics(this.#registry)
  readonly #writes = new Histogram({
    name: 'roost_worker_write_seconds',
    help: 'Writes of instances, volumes and certificates to PostgreSQL, by kind and result.',
    labelNames: ['kind', 'result'],
    buckets: writeBucketsSeconds,
    registers: [this.#registry],
  })
  readonly #mended = new Counter({
    name: 'roost_worker_swept_total',
    help: 'What the sweep had to mend: workflows that were missing, deletes that were repeated.',
    labelNames: ['kind'],
    registers: [this.#registry],
  })

  constructor({
    database,
    polls,
  }: {
    readonly database: Pick<Database, 'pool'>
    readonly polls: () => boolean
  }) {
    collectDefaultMetrics({ register: this.#registry })
    showPool(this.#registry, database)
    for (const kind of ['start', 'delete']) this.#mended.inc({ kind }, 0)
    const ready: Gauge = new Gauge({
      name: 'roost_worker_ready',
      help: '1 if the worker takes work from Temporal, else 0: it has begun just now, or Temporal can not be reached.',
      registers: [this.#registry],
      collect: () => ready.set(polls() ? 1 : 0),
    })
  }

  swept(result: SweepResult): void {
    this.#mended.inc({ kind: 'start' }, result.started)
    this.#mended.inc({ kind: 'delete' }, result.deletesSent)
  }

  /** Returns the same activities, each with measurements. */
  countActivities<T extends { readonly [K in keyof T]: Activity }>(activities: T): T {
    const measured = Object.entries<Activity>(activities).map(([kind, activity]) => [
      kind,
      async (input: never) => {
        const end = this.#writes.startTimer({ kind })
        try {
          const result = await activity(input)
          end({ result: 'done' })
          return result
        } catch (error) {
          end({ result: 'failed' })
          throw error
        }
      },
    ])
    return Object.fromEntries(measured) as T
  }

  text(): Promise<string> {
    return this.#registry.metrics()
  }
}
