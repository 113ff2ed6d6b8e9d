import { Counter, Gauge, Histogram } from 'prom-client'
import type { Registry } from 'prom-client'
import { ClosedFor } from './clients/client-connections.ts'
import type { ConnectionRefusal } from './clients/client-connections.ts'
import { GatewayLeasePhase } from '../domain/standby/gateway-lease-state.ts'
import { StartKind } from '../domain/instance/start-report.ts'
import { UpstreamFault } from './http/request-observer.ts'
import type { RequestReport } from './http/request-observer.ts'
import { HandshakeOutcome } from './listeners/handshake.ts'
import { RequestDurations } from './request-durations.ts'
import type { CountedWake, ServiceCounts } from './service-counts.ts'
import type { Refusal } from './traffic.ts'

/** The values that the gauges show. They are read when somebody asks for the metrics. */
export interface GatewayState {
  readonly queued: number
  readonly httpConnections: number
  readonly tcpConnections: number
  /** Includes connections whose handshake is under way. */
  readonly openConnections: number
  readonly maxConnections: number
  readonly ports: { readonly wanted: number; readonly listening: number }
  readonly hosts: { readonly known: number; readonly connected: number }
  readonly routesAgeMs: number
  readonly tlsContexts: number
  readonly unusableCertificates: number
  /** The earliest expiry of the certificates that names are served with; undefined if none can be read. */
  soonestExpiryMs(): Promise<number | undefined>
  phases(): ReadonlyMap<GatewayLeasePhase, number>
}

export interface GatewayMetrics {
  request(report: RequestReport): void
  /** `RequestObserver` says when. */
  fellBack(report: RequestReport): void
  woken(woken: CountedWake): void
  refused(reason: RefusalReason): void
  handshake(outcome: HandshakeOutcome): void
  upstreamError(kind: UpstreamFault | 'connect'): void
  bindFailed(): void
  connectionClosed(why: ClosedFor): void
}

/**
 * Buckets for requests: from a small page of an awake application to an answer that had to wait for a slow
 * boot.
 */
const requestBucketsSeconds = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
]
/**
 * Buckets for wakes: a restored snapshot takes some hundredths of a second, a boot under emulation more than
 * a second.
 */
const wakeBucketsSeconds = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 1, 1.5, 2.5, 5, 10, 30]
const usPerSecond = 1e6

/** How the values of one gauge in several processes become the value of the gateway. */
type Whole = 'sum' | 'min' | 'max'

/** What happens is counted in the registry, for operators, and in `services`, for the services' owners. */
export function createGatewayMetrics(
  registry: Registry,
  state: GatewayState,
  services: ServiceCounts,
): GatewayMetrics {
  const registers = [registry]
  const requests = new RequestDurations({
    name: 'roost_gateway_request_duration_seconds',
    help: 'Time from a complete request head to the end of the answer, waiting included.',
    labelNames: ['protocol', 'status'],
    buckets: requestBucketsSeconds,
    registers,
  })
  const wakes = new Histogram({
    name: 'roost_gateway_wake_duration_seconds',
    help: 'Time that hosts took to bring an instance up for waiting traffic.',
    labelNames: ['kind'],
    buckets: wakeBucketsSeconds,
    registers,
  })
  for (const kind of Object.values(StartKind)) wakes.zero({ kind })
  collectState(registry, state)
  collectByLabel(registry, state)
  collectExpiry(registry, state)
  const counter = countersIn(registry)
  const handshake = counter('roost_gateway_handshakes_total', 'TLS handshakes, by outcome.', [
    'outcome',
    Object.values(HandshakeOutcome),
  ])
  const refused = counter('roost_gateway_refusals_total', 'Traffic that was not let in, by reason.', [
    'reason',
    Object.keys(refusalReasons) as RefusalReason[],
  ])
  return {
    request(report) {
      const { protocol, status, totalUs, fault } = report
      services.request(report)
      requests.add(protocol, status, totalUs / usPerSecond)
      if (fault !== undefined) this.upstreamError(fault)
    },
    fellBack(report) {
      services.fellBack(report)
      if (report.fault !== undefined) this.upstreamError(report.fault)
    },
    woken(woken) {
      services.woken(woken)
      wakes.labels(woken.kind).observe(woken.wakeUs / usPerSecond)
    },
    refused,
    handshake(outcome) {
      handshake(outcome)
      const reason = refusalOf[outcome]
      if (reason !== undefined) refused(reason)
    },
    upstreamError: counter('roost_gateway_upstream_errors_total', 'Misbehaviour of instances.', [
      'kind',
      [...Object.values(UpstreamFault), 'connect'],
    ]),
    bindFailed: bindFailuresIn(registry),
    connectionClosed: counter(
      'roost_gateway_closed_connections_total',
      'Connections of clients that were closed to make room for others, by what they were.',
      ['was', Object.values(ClosedFor)],
    ),
  }
}

function bindFailuresIn(registry: Registry): () => void {
  const failures = new Counter({
    name: 'roost_gateway_bind_failures_total',
    help: 'Attempts to listen on a public port that failed.',
    registers: [registry],
  })
  return () => failures.inc()
}

/** Why traffic was not let in: no instance, no room for its connection, or no agreement with its client. */
type RefusalReason = Refusal['reason'] | ConnectionRefusal | 'handshake' | 'certificate' | 'proxy-header'

/** Total, so that a new reason does not compile until its counter begins at 0. */
const refusalReasons: Readonly<Record<RefusalReason, true>> = {
  'no-instance': true,
  'hard-limit': true,
  'queue-full': true,
  'timed-out': true,
  'wake-failed': true,
  'host-away': true,
  aborted: true,
  connections: true,
  'connections-of-source': true,
  handshake: true,
  certificate: true,
  'proxy-header': true,
}

/** The reason under which a handshake also counts as a refusal; undefined if the outcome is no refusal. */
const refusalOf: Readonly<Record<HandshakeOutcome, RefusalReason | undefined>> = {
  [HandshakeOutcome.Full]: undefined,
  [HandshakeOutcome.Resumed]: undefined,
  [HandshakeOutcome.Challenge]: undefined,
  [HandshakeOutcome.Failed]: 'handshake',
  [HandshakeOutcome.NoCertificate]: 'certificate',
  [HandshakeOutcome.UnusableCertificate]: 'certificate',
}

/**
 * Returns the function that makes counters with one label. A counter begins at 0 for each known value: one
 * that begins with its first event hides that event from readers of its increase.
 */
function countersIn(registry: Registry) {
  return <Value extends string>(
    name: string,
    help: string,
    [label, known]: readonly [label: string, values: readonly Value[]],
  ): ((value: Value) => void) => {
    const metric = new Counter({ name, help, labelNames: [label], registers: [registry] })
    for (const value of known) metric.inc({ [label]: value }, 0)
    return remembered((value) => {
      const child = metric.labels(value)
      return () => child.inc()
    })
  }
}

/**
 * Remembers the counter of each label, so that an event costs one look-up by text and makes no object of
 * labels.
 */
function remembered<Label extends string>(make: (value: Label) => () => void): (value: Label) => void {
  const made = new Map<Label, () => void>()
  return (value) => {
    let count = made.get(value)
    if (count === undefined) made.set(value, (count = make(value)))
    count()
  }
}

/**
 * The second argument of each gauge says how the values of several processes make one (`Whole`). What all of
 * them know alike is not added up.
 */
function collectState(registry: Registry, state: GatewayState): void {
  const gauge = (name: string, aggregator: Whole, help: string, read: () => number): void => {
    const made: Gauge = new Gauge({
      name,
      help,
      aggregator,
      registers: [],
      collect() {
        this.set(read())
      },
    })
    registry.registerMetric(made)
  }
  gauge(
    'roost_gateway_queued',
    'sum',
    'Requests and connections that wait for an instance.',
    () => state.queued,
  )
  gauge(
    'roost_gateway_max_connections',
    'sum',
    'Connections of clients that may be open at once.',
    () => state.maxConnections,
  )
  gauge('roost_gateway_listening_ports', 'min', 'Public ports that listen.', () => state.ports.listening)
  gauge('roost_gateway_wanted_ports', 'max', 'Public ports that should listen.', () => state.ports.wanted)
  gauge(
    'roost_gateway_tls_contexts',
    'max',
    'Certificates that are ready for handshakes.',
    () => state.tlsContexts,
  )
  gauge(
    'roost_gateway_unusable_certificates',
    'max',
    'Certificates that were asked for, and that TLS can not use.',
    () => state.unusableCertificates,
  )
  gauge('roost_gateway_hosts', 'max', 'Hosts that the routes name.', () => state.hosts.known)
  gauge('roost_gateway_connected_hosts', 'min', 'Hosts that answer.', () => state.hosts.connected)
  gauge(
    'roost_gateway_routes_age_seconds',
    'max',
    'Time since the API last sent a line about the routes, even one without a change; before its first line, time since the start.',
    () => state.routesAgeMs / 1_000,
  )
}

/** The gauges with labels. Those of several processes are added up. */
function collectByLabel(registry: Registry, state: GatewayState): void {
  const connections = new Gauge({
    name: 'roost_gateway_connections',
    help: 'Open connections of clients.',
    labelNames: ['protocol'],
    registers: [],
    collect() {
      this.set({ protocol: 'http' }, state.httpConnections)
      this.set({ protocol: 'tcp' }, state.tcpConnections)
      const others = state.openConnections - state.httpConnections - state.tcpConnections
      this.set({ protocol: 'handshake' }, Math.max(0, others))
    },
  })
  const leases = new Gauge({
    name: 'roost_gateway_leases',
    help: 'Instances that were asked for, by the phase of their lease.',
    labelNames: ['phase'],
    registers: [],
    collect() {
      const counts = state.phases()
      for (const phase of Object.values(GatewayLeasePhase)) this.set({ phase }, counts.get(phase) ?? 0)
    },
  })
  registry.registerMetric(connections)
  registry.registerMetric(leases)
}

function collectExpiry(registry: Registry, state: GatewayState): void {
  const soonest: Gauge = new Gauge({
    name: 'roost_gateway_certificate_expiry_timestamp_seconds',
    help: 'The earliest expiry of the certificates that names are served with.',
    aggregator: 'min',
    registers: [],
    async collect() {
      const expiryMs = await state.soonestExpiryMs()
      if (expiryMs !== undefined) this.set(expiryMs / 1_000)
    },
  })
  registry.registerMetric(soonest)
}
