import { setTimeout as delay } from 'node:timers/promises'
import { Registry } from 'prom-client'
import { Balancer } from './balance/balancer.ts'
import type { BalanceObserver } from './balance/balancer.ts'
import type { BalanceLimits } from './balance/balance-limits.ts'
import { admittingBuiltIn } from './built-in-services.ts'
import type { BuiltInService } from './built-in-services.ts'
import { ClientConnections } from './clients/client-connections.ts'
import type { ClientObserver } from './clients/client-connections.ts'
import { defaultClientLimits } from './clients/client-limits.ts'
import type { ClientLimits } from './clients/client-limits.ts'
import type { TrustsPeer } from './clients/trusted-proxies.ts'
import { createGatewayMetrics } from './gateway-metrics.ts'
import type { GatewayMetrics, GatewayState } from './gateway-metrics.ts'
import { createHttpFront } from './http/http-front.ts'
import type { HttpFront, HttpFrontDeps } from './http/http-front.ts'
import type { RequestObserver } from './http/request-observer.ts'
import { CertificateExpiry } from './listeners/certificate-expiry.ts'
import { defaultListenerLimits } from './listeners/listener-limits.ts'
import type { ListenerLimits } from './listeners/listener-limits.ts'
import { proxyHeadersTold } from './listeners/proxy-header-log.ts'
import { PublicPorts } from './listeners/public-ports.ts'
import type { PortsState } from './listeners/public-ports.ts'
import { ServerContexts } from './listeners/server-contexts.ts'
import type { MetroCertificate } from './listeners/server-contexts.ts'
import type { TicketSecret } from './listeners/ticket-secret.ts'
import type { PartIdentity } from '../trust/part-identity.ts'
import type { Tracer } from '../primitives/traces.ts'
import type { Routes } from './routes.ts'
import { ServiceCounts } from './service-counts.ts'
import type { TrafficOfServices } from './service-counts.ts'
import { createTcpFront } from './tcp/tcp-front.ts'
import type { TcpFront } from './tcp/tcp-front.ts'

export interface GatewayLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export interface GatewayOptions {
  /** The routes, including those of `builtIn`. */
  readonly routes: Routes
  /**
   * Returns the time since the source of the routes last sent anything. If it is absent, the routes are
   * fixed and do not age.
   */
  readonly routesAgeMs?: () => number
  readonly metroCertificate: MetroCertificate
  /** If it is absent, TLS sessions are resumed only by this gateway. */
  readonly ticketSecret?: TicketSecret
  /** What the gateway shows to hosts on other machines. Absent: there are none. */
  readonly identity?: () => PartIdentity | undefined
  readonly portOffset: number
  /** The address to listen on. If it is absent, the gateway listens on every address. */
  readonly host?: string | undefined
  /**
   * Whether other processes of the same user may listen on the same ports. The kernel then gives each new
   * connection to one of them.
   */
  readonly sharesPorts?: boolean
  /** Ports of this machine that no service gets, such as those of the platform's other parts. */
  readonly withheldPorts?: ReadonlySet<number>
  readonly log: GatewayLog
  readonly registry?: Registry
  readonly builtIn?: readonly BuiltInService[]
  readonly serverTiming?: boolean
  /**
   * Whether this peer is a trusted proxy, which may name its clients by a PROXY header and by `Forwarded`
   * and `X-Forwarded-*`. If it is absent, no peer is.
   */
  readonly trustsPeer?: TrustsPeer
  /** Set if requests are traced. */
  readonly tracer?: Tracer | undefined
  readonly httpLimits?: HttpFrontDeps['limits']
  readonly balanceLimits?: Partial<BalanceLimits>
  readonly listenerLimits?: Partial<ListenerLimits>
  readonly clientLimits?: Partial<ClientLimits>
}

export interface Gateway {
  /** Begins to listen. A port that can not be bound is logged and tried again. */
  start(): void
  /**
   * Listens no more, and lets everything go on until no connection is left, `limitMs` is over or `signal`
   * aborts. Connections without an end of their own, such as WebSockets, are then told to end. `close` has
   * to follow.
   */
  drain(options: { readonly limitMs: number; readonly signal: AbortSignal }): Promise<void>
  /** Accepts nothing more, lets requests in flight continue for `graceMs`, then ends everything. */
  close(options?: { readonly graceMs?: number }): Promise<void>
  readonly registry: Registry
  /** What was counted of each service since the last call. */
  takeServiceCounts(): TrafficOfServices
  readonly ports: PortsState
  readonly hosts: { readonly known: number; readonly connected: number }
}

/** How often a gateway that drains looks whether all connections have ended. */
const drainPollMs = 20

/**
 * Makes everything between public ports and instances. It needs routes and hosts, and nothing of the control
 * plane.
 */
export function createGateway(options: GatewayOptions): Gateway {
  const { routes, log, builtIn = [], registry = new Registry(), trustsPeer = () => false } = options
  // The parts report events to the metrics, and the metrics read the parts. So each needs the other; the
  // metrics read the parts only later, when somebody asks for them.
  const late: LateParts = {}
  const told = observersOf(late)
  const services = new ServiceCounts()
  const balancer = new Balancer({
    routes,
    limits: options.balanceLimits ?? {},
    ...(options.identity && { identity: options.identity }),
    forget: (instanceUuid, boot) => late.http?.forget(instanceUuid, boot),
    observer: told.balance,
    onHostProblem: (nodeId, why) => log.warn({ nodeId, why }, 'a host can not be reached; it is tried again'),
  })
  const traffic = builtIn.length === 0 ? balancer : admittingBuiltIn(balancer, builtIn)
  const http = createHttpFront({
    routes,
    traffic,
    portOffset: options.portOffset,
    serverTiming: options.serverTiming ?? false,
    trustsPeer,
    tracer: options.tracer,
    limits: options.httpLimits ?? {},
    observer: told.requests,
    onError: (error) => log.error({ err: error }, 'a request met a fault of the gateway'),
  })
  late.http = http
  const tcp = createTcpFront({ traffic, onUpstreamError: () => late.metrics?.upstreamError('connect') })
  const contexts = contextsOf(options)
  const clients = clientsOf(options, (why) => late.metrics?.connectionClosed(why))
  const ports = new PublicPorts({
    routes,
    contexts,
    http,
    tcp,
    clients,
    portOffset: options.portOffset,
    host: options.host,
    limits: { ...defaultListenerLimits, ...options.listenerLimits },
    shared: options.sharesPorts ?? false,
    trustsPeer,
    withheld: options.withheldPorts ?? new Set(),
    onRefused: (reason) => late.metrics?.refused(reason),
    onHandshake: (outcome) => late.metrics?.handshake(outcome),
    onProxyHeader: proxyHeadersTold(log, () => late.metrics?.refused('proxy-header')),
    onBind: bindsTold(options, () => late.metrics?.bindFailed()),
  })
  const own = { balancer, http, tcp, clients, ports, contexts }
  late.metrics = createGatewayMetrics(registry, stateOf(options, own), services)
  return {
    registry,
    get ports() {
      return ports.state
    },
    get hosts() {
      return balancer.hosts
    },
    takeServiceCounts: () => services.take(),
    start: () => ports.start(),
    drain: async (until) => await drain({ ports, http, clients }, until),
    close: async (grace = {}) => {
      ports.close()
      await http.close(grace)
      tcp.close()
      clients.close()
      contexts.close()
      balancer.close()
    },
  }
}

interface LateParts {
  http?: HttpFront
  metrics?: GatewayMetrics
}

function observersOf(late: LateParts) {
  const balance: BalanceObserver = {
    woken: (woken) => late.metrics?.woken(woken),
    refused: (reason) => late.metrics?.refused(reason),
  }
  const requests: RequestObserver = {
    request: (report) => late.metrics?.request(report),
    fellBack: (report) => late.metrics?.fellBack(report),
  }
  return { balance, requests }
}

/** Lets the clients of a gateway go. */
async function drain(
  parts: { readonly ports: PublicPorts; readonly http: HttpFront; readonly clients: ClientConnections },
  { limitMs, signal }: Parameters<Gateway['drain']>[0],
): Promise<void> {
  const { ports, http, clients } = parts
  ports.close()
  http.retire()
  const untilMs = performance.now() + limitMs
  while (clients.all > 0 && performance.now() < untilMs && !signal.aborted) await delay(drainPollMs)
  clients.endUnused()
}

function contextsOf({ routes, metroCertificate, ticketSecret, log }: GatewayOptions): ServerContexts {
  return new ServerContexts({
    routes,
    metro: metroCertificate,
    ticketSecret,
    onUnusable: (certificate) =>
      log.warn({ ...certificate }, 'a certificate can not be used; its names get none'),
  })
}

function clientsOf(
  { clientLimits, log }: GatewayOptions,
  closed: ClientObserver['closed'],
): ClientConnections {
  return new ClientConnections(
    { ...defaultClientLimits, ...clientLimits },
    {
      closed,
      overBudget: (holder) => log.warn(holder, 'a connection was ended: its client holds too much memory'),
    },
  )
}

function stateOf(
  { routes, metroCertificate: metro, routesAgeMs = () => 0 }: GatewayOptions,
  parts: {
    readonly balancer: Balancer
    readonly http: HttpFront
    readonly tcp: TcpFront
    readonly clients: ClientConnections
    readonly ports: PublicPorts
    readonly contexts: ServerContexts
  },
): GatewayState {
  const { balancer, http, tcp, clients, ports, contexts } = parts
  const expiry = new CertificateExpiry({ routes, metro })
  return {
    get queued() {
      return balancer.queued
    },
    get httpConnections() {
      return http.connectionCount
    },
    get tcpConnections() {
      return tcp.connectionCount
    },
    get openConnections() {
      return clients.all
    },
    get maxConnections() {
      return clients.limit
    },
    get ports() {
      return ports.state
    },
    get hosts() {
      return balancer.hosts
    },
    get routesAgeMs() {
      return routesAgeMs()
    },
    get tlsContexts() {
      return contexts.held
    },
    get unusableCertificates() {
      return contexts.unusable
    },
    soonestExpiryMs: () => expiry.soonestMs(),
    phases: () => balancer.phases(),
  }
}

/** Returns the function that logs the results of binding. A port that stays taken is logged only once. */
function bindsTold(
  { log, portOffset }: GatewayOptions,
  failed: () => void,
): (port: number, problem: Error | undefined) => void {
  const told = new Set<number>()
  return (publicPort, problem) => {
    const port = publicPort + portOffset
    if (problem === undefined) {
      told.delete(publicPort)
      log.info({ port }, 'listening')
      return
    }
    failed()
    if (told.has(publicPort)) return
    told.add(publicPort)
    log.warn(
      { port, err: problem },
      `public port ${publicPort} can not be used; it is tried again, and ROOST_PORT_OFFSET moves it`,
    )
  }
}
