import { AggregatorRegistry } from 'prom-client'
import type { Registry } from 'prom-client'
import type { Metric } from './messages.ts'

/**
 * How the metrics that Node's processes have by themselves become one, where the library's way says little
 * of a gateway: an operator wants the worst delay of all processes, and the start of the gateway. Processor
 * time, memory and files are added up.
 */
const nodeMetrics: Readonly<Record<string, Metric['aggregator']>> = {
  process_start_time_seconds: 'min',
  nodejs_eventloop_lag_seconds: 'max',
  nodejs_eventloop_lag_min_seconds: 'min',
  nodejs_eventloop_lag_max_seconds: 'max',
  nodejs_eventloop_lag_mean_seconds: 'max',
  nodejs_eventloop_lag_stddev_seconds: 'max',
  nodejs_eventloop_lag_p50_seconds: 'max',
  nodejs_eventloop_lag_p90_seconds: 'max',
  nodejs_eventloop_lag_p99_seconds: 'max',
}

/** One registry for the metrics of several processes. */
export function sumOfMetrics(processes: readonly (readonly Metric[])[]): Registry {
  const whole = (metric: Metric): Metric => ({
    ...metric,
    aggregator: nodeMetrics[metric.name] ?? metric.aggregator,
  })
  return AggregatorRegistry.aggregate(processes.map((metrics) => metrics.map(whole)))
}

/**
 * The counters and histograms among the metrics of a process. They count on when the process has ended or
 * does not answer: if a sum fell, its reader would take that for a restart of the whole gateway, and count
 * everything again.
 */
export function onlyCounts(metrics: readonly Metric[]): readonly Metric[] {
  return metrics.filter(({ type }) => countingTypes.has(String(type)))
}

const countingTypes: ReadonlySet<string> = new Set(['counter', 'histogram', 'summary'])
