import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { StartReport } from '../../domain/start-report.ts'
import type { AgentObserver } from './agent-ports.ts'
import type { InstanceEntry } from './instance-entry.ts'
import { runs } from './instance-record.ts'

/** From a restore (0.1 s) to a boot on a machine that is overloaded; finer where the aims of the project lie. */
const startBucketsSeconds = [0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1, 1.3, 1.7, 2.5, 5, 10, 30]
const prepareBucketsSeconds = [0.005, 0.01, 0.02, 0.03, 0.06, 0.1, 0.25, 1, 5, 30]

/** The agent's own Prometheus metrics; those of instances are the API's to show. */
export class AgentMetrics implements AgentObserver {
  readonly registry = new Registry()
  readonly #starts = new Counter({
    name: 'roost_agent_starts_total',
    help: 'Starts that reached their application, by kind.',
    labelNames: ['kind'],
    registers: [this.registry],
  })
  readonly #failures = new Counter({
    name: 'roost_agent_start_failures_total',
    help: 'Starts that failed, by failure.',
    labelNames: ['failure'],
    registers: [this.registry],
  })
  readonly #ends = new Counter({
    name: 'roost_agent_ends_total',
    help: 'Boots that ended, by cause.',
    labelNames: ['cause'],
    registers: [this.registry],
  })
  readonly #bootSeconds = new Histogram({
    name: 'roost_agent_boot_seconds',
    help: 'From the start of the VMM to the entry of the application, by kind of start.',
    labelNames: ['kind'],
    buckets: startBucketsSeconds,
    registers: [this.registry],
  })
  readonly #prepareSeconds = new Histogram({
    name: 'roost_agent_prepare_seconds',
    help: 'From the request of a start to the start of the VMM: launch spec, image, address.',
    buckets: prepareBucketsSeconds,
    registers: [this.registry],
  })

  constructor(entries: ReadonlyMap<string, InstanceEntry>) {
    collectDefaultMetrics({ register: this.registry })
    const vms: Gauge = new Gauge({
      name: 'roost_agent_instances',
      help: 'Instances that this host knows, by what they do.',
      labelNames: ['state'],
      registers: [this.registry],
      collect: () => {
        const counts = { starting: 0, running: 0, ended: 0 }
        for (const entry of entries.values()) counts[stateOf(entry)] += 1
        for (const [state, count] of Object.entries(counts)) vms.set({ state }, count)
      },
    })
  }

  started(report: StartReport, prepareMs: number): void {
    this.#starts.inc({ kind: report.kind })
    this.#bootSeconds.observe({ kind: report.kind }, report.bootTimeUs / 1e6)
    this.#prepareSeconds.observe(prepareMs / 1e3)
  }

  startFailed(failure: string): void {
    this.#failures.inc({ failure })
  }

  ended(cause: string): void {
    this.#ends.inc({ cause })
  }
}

function stateOf(entry: InstanceEntry): 'starting' | 'running' | 'ended' {
  if (entry.job !== undefined) return 'starting'
  return runs(entry.record) ? 'running' : 'ended'
}
