import { InstanceState } from '../../domain/instance/state.ts'
import type { Usage } from '../../domain/instance/usage.ts'
import type { InstanceRow } from '../../db/instance/row.ts'
import type { getInstanceMetrics } from '../../contract/instance/operations.ts'
import type { OperationEntry } from '../../contract/operation.ts'
import { presentLoad, presentTraffic, presentUptimeMs } from './view.ts'
import { optionalTimestamp } from '../timestamp.ts'

type Metrics = OperationEntry<typeof getInstanceMetrics>

/** One instance with its resource use, for either form of the metrics. */
export interface MeteredInstance {
  readonly row: InstanceRow
  /** The resource use. It is absent if the host does not answer. */
  readonly usage?: Usage
}

export function presentMetrics(
  { row, usage }: { readonly row: InstanceRow; readonly usage: Usage },
  view: { readonly nowMs: number; readonly developer: boolean },
): Metrics {
  return {
    uuid: row.uuid,
    name: row.name,
    state: row.state,
    start_count: row.startCount,
    restart_count: row.restartCount,
    ...optionalTimestamp('started_at', row.startedAt),
    ...optionalTimestamp('stopped_at', row.stoppedAt),
    uptime_ms: presentUptimeMs(row, view.nowMs),
    ...(row.bootTimeUs === null ? {} : { boot_time_us: row.bootTimeUs }),
    ...(view.developer && row.netTimeUs !== null ? { net_time_us: row.netTimeUs } : {}),
    rss_bytes: usage.rssBytes,
    cpu_time_ms: usage.cpuTimeMs,
    ...presentTraffic(usage),
    ...presentLoad(usage),
  }
}

const stateNumbers: Readonly<Record<InstanceState, number>> = {
  [InstanceState.Stopped]: 0,
  [InstanceState.Starting]: 1,
  [InstanceState.Running]: 2,
  [InstanceState.Draining]: 3,
  [InstanceState.Stopping]: 4,
  [InstanceState.Standby]: 5,
}

interface TextMetric {
  readonly name: string
  readonly type: 'gauge' | 'counter'
  readonly help: string
  /** Returns the metric's value for an instance, or undefined if the instance has none now. */
  readonly value: (instance: MeteredInstance, view: TextView) => string | undefined
}

interface TextView {
  readonly nowMs: number
  readonly developer: boolean
}

const usageMetric = (
  name: string,
  help: string,
  read: (usage: Usage) => string | number,
  type: TextMetric['type'] = 'counter',
): TextMetric => ({
  name,
  type,
  help,
  value: ({ usage }) => (usage === undefined ? undefined : String(read(usage))),
})
const textMetrics: readonly TextMetric[] = [
  {
    name: 'instance_state',
    type: 'gauge',
    help: 'State: 0 stopped, 1 starting, 2 running, 3 draining, 4 stopping, 5 standby.',
    value: ({ row }) => String(stateNumbers[row.state]),
  },
  {
    name: 'instance_start_count',
    type: 'counter',
    help: 'Starts.',
    value: ({ row }) => String(row.startCount),
  },
  {
    name: 'instance_restart_count',
    type: 'counter',
    help: 'Restarts by the restart policy.',
    value: ({ row }) => String(row.restartCount),
  },
  {
    name: 'instance_started_at',
    type: 'gauge',
    help: 'Time of the last start, in Unix seconds.',
    value: ({ row }) => unixSeconds(row.startedAt),
  },
  {
    name: 'instance_stopped_at',
    type: 'gauge',
    help: 'Time of the last stop, in Unix seconds.',
    value: ({ row }) => unixSeconds(row.stoppedAt),
  },
  {
    name: 'instance_uptime_s',
    type: 'counter',
    help: 'Running time over all starts.',
    value: ({ row }, { nowMs }) => (presentUptimeMs(row, nowMs) / 1_000).toFixed(3),
  },
  {
    name: 'instance_boot_time_s',
    type: 'gauge',
    help: 'Boot time of the last start.',
    value: ({ row }) => secondsOf(row.bootTimeUs),
  },
  {
    name: 'instance_net_time_s',
    type: 'gauge',
    help: 'Time to the first listening socket of the last start.',
    value: ({ row }, { developer }) => (developer ? secondsOf(row.netTimeUs) : undefined),
  },
  usageMetric('instance_rss_bytes', 'Resident memory of the VMM.', (usage) => usage.rssBytes, 'gauge'),
  usageMetric('instance_cpu_time_s', 'CPU time over all starts.', (usage) =>
    (usage.cpuTimeMs / 1_000).toFixed(3),
  ),
  usageMetric('instance_rx_bytes', 'Bytes received.', (usage) => usage.rxBytes),
  usageMetric('instance_rx_packets', 'Packets received.', (usage) => usage.rxPackets),
  usageMetric('instance_tx_bytes', 'Bytes sent.', (usage) => usage.txBytes),
  usageMetric('instance_tx_packets', 'Packets sent.', (usage) => usage.txPackets),
  usageMetric(
    'instance_nconns',
    'Established inbound connections without HTTP.',
    (usage) => usage.connections,
    'gauge',
  ),
  usageMetric('instance_nreqs', 'HTTP requests in flight.', (usage) => usage.requests, 'gauge'),
  usageMetric(
    'instance_nqueued',
    'Queued inbound connections and requests.',
    (usage) => usage.queued,
    'gauge',
  ),
  usageMetric('instance_ntotal', 'Inbound connections and requests handled.', (usage) => usage.handled),
]

/**
 * The metrics in the Prometheus text form: a block per metric with its help and type, with blank lines
 * between the blocks.
 */
export function presentMetricsText(instances: readonly MeteredInstance[], view: TextView): string {
  const blocks = textMetrics.map((metric) => {
    const samples = instances.flatMap((instance) => {
      const value = metric.value(instance, view)
      return value === undefined ? [] : [`${metric.name}{instance_uuid="${instance.row.uuid}"} ${value}`]
    })
    return [`# HELP ${metric.name} ${metric.help}`, `# TYPE ${metric.name} ${metric.type}`, ...samples].join(
      '\n',
    )
  })
  return `${blocks.join('\n\n')}\n`
}

function unixSeconds(at: Date | null): string | undefined {
  return at === null ? undefined : String(Math.floor(at.getTime() / 1_000))
}

function secondsOf(us: number | null): string | undefined {
  return us === null ? undefined : (us / 1_000_000).toFixed(6)
}
