import { StartKind } from '../../domain/instance/start-report.ts'
import { InstanceState } from '../../domain/instance/state.ts'
import type { Usage, WakeCount } from '../../domain/instance/usage.ts'
import type { InstanceRow } from '../../db/instance/row.ts'
import type { AttachedService } from '../../db/service/row.ts'
import type { getInstanceMetrics } from '../../contract/instance/operations.ts'
import type { OperationEntry } from '../../contract/operation.ts'
import { presentLoad, presentTraffic, presentUptimeMs } from './view.ts'
import { metricsText } from '../metrics-text.ts'
import type { Sample, TextMetric } from '../metrics-text.ts'
import { optionalTimestamp } from '../timestamp.ts'

type Metrics = OperationEntry<typeof getInstanceMetrics>

/** One instance with its resource use, for either form of the metrics. */
export interface MeteredInstance {
  readonly row: InstanceRow
  /** The resource use. It is absent if the host does not answer. */
  readonly usage?: Usage
  /** The service to which the instance is attached, if it is attached to one. */
  readonly service?: AttachedService | undefined
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

interface TextView {
  readonly nowMs: number
  readonly developer: boolean
}

interface Subject extends MeteredInstance {
  readonly view: TextView
}

type InstanceMetric = TextMetric<Subject>

/** A metric with one value per instance. An instance without a value now has no sample. */
function oneValue(
  name: string,
  type: 'gauge' | 'counter',
  help: string,
  read: (subject: Subject) => string | number | undefined,
): InstanceMetric {
  return {
    name,
    type,
    help,
    samples(subject) {
      const value = read(subject)
      return value === undefined ? [] : [{ labels: labelsOf(subject), value }]
    },
  }
}

function usageMetric(
  name: string,
  help: string,
  read: (usage: Usage) => string | number,
  type: 'gauge' | 'counter' = 'counter',
): InstanceMetric {
  return oneValue(name, type, help, ({ usage }) => (usage === undefined ? undefined : read(usage)))
}

/** A metric of wakes, by how the VM came up. Kinds that never happened are 0, so that a first one is seen. */
function wakeMetric(name: string, help: string, read: (count: WakeCount) => number): InstanceMetric {
  return {
    name,
    type: 'counter',
    help,
    samples: (subject) =>
      subject.usage === undefined
        ? []
        : Object.values(StartKind).map((kind): Sample => {
            const count = subject.usage?.wakes?.[kind] ?? { count: 0, timeMs: 0 }
            return { labels: { ...labelsOf(subject), kind }, value: read(count) }
          }),
  }
}

function labelsOf({ row }: MeteredInstance): Sample['labels'] {
  return { instance_uuid: row.uuid }
}

const mebibyte = 1024 * 1024

const textMetrics: readonly InstanceMetric[] = [
  {
    name: 'instance_info',
    type: 'gauge',
    help: 'Always 1. Its labels name the instance and its service.',
    samples: ({ row, service }) => [
      {
        labels: {
          instance_uuid: row.uuid,
          instance_name: row.name,
          service_uuid: service?.uuid ?? '',
          service_name: service?.name ?? '',
        },
        value: 1,
      },
    ],
  },
  oneValue(
    'instance_state',
    'gauge',
    'State: 0 stopped, 1 starting, 2 running, 3 draining, 4 stopping, 5 standby.',
    ({ row }) => String(stateNumbers[row.state]),
  ),
  oneValue('instance_start_count', 'counter', 'Starts.', ({ row }) => String(row.startCount)),
  oneValue('instance_restart_count', 'counter', 'Restarts by the restart policy.', ({ row }) =>
    String(row.restartCount),
  ),
  oneValue('instance_started_at', 'gauge', 'Time of the last start, in Unix seconds.', ({ row }) =>
    unixSeconds(row.startedAt),
  ),
  oneValue('instance_stopped_at', 'gauge', 'Time of the last stop, in Unix seconds.', ({ row }) =>
    unixSeconds(row.stoppedAt),
  ),
  oneValue('instance_uptime_s', 'counter', 'Running time over all starts.', ({ row, view: { nowMs } }) =>
    (presentUptimeMs(row, nowMs) / 1_000).toFixed(3),
  ),
  oneValue('instance_boot_time_s', 'gauge', 'Boot time of the last start.', ({ row }) =>
    secondsOf(row.bootTimeUs),
  ),
  oneValue(
    'instance_net_time_s',
    'gauge',
    'Time to the first listening socket of the last start.',
    ({ row, view: { developer } }) => (developer ? secondsOf(row.netTimeUs) : undefined),
  ),
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
  oneValue(
    'instance_memory_limit_bytes',
    'gauge',
    'Memory that the instance asked for.',
    ({ row }) => row.memoryMb * mebibyte,
  ),
  oneValue('instance_vcpus', 'gauge', 'Virtual processors of the instance.', ({ row }) => row.vcpus),
  wakeMetric('instance_wakes_total', 'Wakes from standby, by how the VM came up.', ({ count }) => count),
  wakeMetric(
    'instance_wake_seconds_total',
    'How long the host took for these wakes in all.',
    ({ timeMs }) => timeMs / 1_000,
  ),
]

/** The metrics in the Prometheus text form. */
export function presentMetricsText(instances: readonly MeteredInstance[], view: TextView): string {
  return metricsText(
    textMetrics,
    instances.map((instance) => ({ ...instance, view })),
  )
}

function unixSeconds(at: Date | null): string | undefined {
  return at === null ? undefined : String(Math.floor(at.getTime() / 1_000))
}

function secondsOf(us: number | null): string | undefined {
  return us === null ? undefined : (us / 1_000_000).toFixed(6)
}
