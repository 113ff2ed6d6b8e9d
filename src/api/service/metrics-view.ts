import type { OperationEntry } from '../../contract/operation.ts'
import type { getServiceMetrics } from '../../contract/service/operations.ts'
import type { StateCount } from '../../db/instance/state-counts.ts'
import { StartKind } from '../../domain/instance/start-report.ts'
import { instanceStates } from '../../domain/instance/state.ts'
import {
  addTraffic,
  noDurations,
  noTraffic,
  requestBoundsSeconds,
  statusClasses,
  wakeBoundsSeconds,
} from '../../domain/service/service-traffic.ts'
import type { ServiceTraffic } from '../../domain/service/service-traffic.ts'
import { histogramSamples, metricsText } from '../metrics-text.ts'
import type { Sample, TextMetric } from '../metrics-text.ts'

type Metrics = OperationEntry<typeof getServiceMetrics>

/** One service with its metrics, for either form of the answer. */
export interface MeteredService {
  readonly uuid: string
  readonly name: string
  /** States that no instance has are left out. */
  readonly states: readonly StateCount[]
  /** One element per gateway that answered. `counted` is undefined if the service had no traffic there. */
  readonly traffic: readonly {
    readonly gateway: string
    readonly counted: ServiceTraffic | undefined
  }[]
}

/** The traffic of all gateways together. */
export function presentServiceMetrics(service: MeteredService): Metrics {
  const { uuid, name, traffic } = service
  const { requests, durations, wakes } = traffic.reduce(
    (all, { counted }) => (counted === undefined ? all : addTraffic(all, counted)),
    noTraffic,
  )
  return {
    uuid,
    name,
    instances: Object.fromEntries(countsByState(service)),
    requests: Object.fromEntries(statusClasses.map((status) => [status, requests[status] ?? 0])),
    request_seconds: durations.seconds,
    request_durations: requestBoundsSeconds.map((bound, index) => ({
      within_seconds: bound,
      count: durations.counts.slice(0, index + 1).reduce((sum, each) => sum + each, 0),
    })),
    wakes: Object.fromEntries(
      Object.values(StartKind).map((kind) => {
        const { counts, seconds } = wakes[kind] ?? noDurations(wakeBoundsSeconds)
        return [kind, { count: counts.reduce((sum, each) => sum + each, 0), seconds }]
      }),
    ),
  }
}

function countsByState({ states }: MeteredService): readonly (readonly [string, number])[] {
  const counts = new Map(states.map(({ state, count }) => [state, count]))
  return instanceStates.map((state) => [state, counts.get(state) ?? 0])
}

/**
 * Each gateway has series of its own, because a sum would fall when one of them is away. All series of a
 * service are there from its first moment, so that a first request is seen as an increase.
 */
const textMetrics: readonly TextMetric<MeteredService>[] = [
  {
    name: 'service_instances',
    type: 'gauge',
    help: 'Instances of the service, by state.',
    samples: (service) =>
      countsByState(service).map(([state, value]) => ({ labels: { ...labelsOf(service), state }, value })),
  },
  {
    name: 'service_requests_total',
    type: 'counter',
    help: 'Answered HTTP requests, by gateway and class of status; 499: the client left before.',
    samples: (service) =>
      perGateway(service, (labels, { requests }) =>
        statusClasses.map((status) => ({ labels: { ...labels, status }, value: requests[status] ?? 0 })),
      ),
  },
  {
    name: 'service_request_duration_seconds',
    type: 'histogram',
    help: 'Time from a complete request head to the end of the answer, waiting included; without WebSockets.',
    samples: (service) =>
      perGateway(service, (labels, { durations }) =>
        histogramSamples(labels, requestBoundsSeconds, durations),
      ),
  },
  {
    name: 'service_wake_duration_seconds',
    type: 'histogram',
    help: 'Time that hosts took to bring an instance up for waiting traffic, by how its VM came up.',
    samples: (service) =>
      perGateway(service, (labels, { wakes }) =>
        Object.values(StartKind).flatMap((kind) =>
          histogramSamples(
            { ...labels, kind },
            wakeBoundsSeconds,
            wakes[kind] ?? noDurations(wakeBoundsSeconds),
          ),
        ),
      ),
  },
]

/** The metrics in the Prometheus text form. */
export function presentServiceMetricsText(services: readonly MeteredService[]): string {
  return metricsText(textMetrics, services)
}

function perGateway(
  service: MeteredService,
  samples: (labels: Sample['labels'], counted: ServiceTraffic) => readonly Sample[],
): readonly Sample[] {
  return service.traffic.flatMap(({ gateway, counted }) =>
    samples({ ...labelsOf(service), gateway }, counted ?? noTraffic),
  )
}

function labelsOf({ uuid, name }: MeteredService): Sample['labels'] {
  return { service_uuid: uuid, service_name: name }
}
