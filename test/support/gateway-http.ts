import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import type { ClientHttp2Session } from 'node:http2'
import { createServer, connect } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { createSecureContext, createServer as createTlsServer } from 'node:tls'
import type { TLSSocket } from 'node:tls'
import type { RouteService } from '../../src/domain/service/route-feed.ts'
import { ClientConnections } from '../../src/gateway/clients/client-connections.ts'
import { defaultClientLimits } from '../../src/gateway/clients/client-limits.ts'
import type { ClientLimits } from '../../src/gateway/clients/client-limits.ts'
import type { ConnectionUse } from '../../src/gateway/clients/connection-use.ts'
import type { PublishedPort } from '../../src/domain/service/handler.ts'
import { createHttpFront } from '../../src/gateway/http/http-front.ts'
import type { HttpFront, HttpFrontDeps } from '../../src/gateway/http/http-front.ts'
import type { RequestReport } from '../../src/gateway/http/request-observer.ts'
import type { Routes } from '../../src/gateway/routes.ts'
import type { Admission, Ask, EndReason, Refusal, Traffic } from '../../src/gateway/traffic.ts'
import { testCertificate } from './gateway-http-certificate.ts'

export const testHost = 'app.test'

export function routeService(over: Partial<RouteService> = {}): RouteService {
  const ports: readonly PublishedPort[] = [
    { port: 443, destinationPort: 8080, handlers: ['tls', 'http'] },
    { port: 80, destinationPort: 443, handlers: ['http', 'redirect'] },
    { port: 8000, destinationPort: 8080, handlers: ['http'] },
  ]
  return {
    uuid: 'service-1',
    name: 'app',
    domains: [{ fqdn: testHost }],
    ports,
    softLimit: 1,
    hardLimit: 100,
    ...over,
  }
}

export function fixedRoutes(...services: readonly RouteService[]): Routes {
  const byHost = new Map(services.flatMap((one) => one.domains.map(({ fqdn }) => [fqdn, one] as const)))
  return {
    serviceOf: (host) => byHost.get(host),
    service: (uuid) => services.find((one) => one.uuid === uuid),
    services: () => services,
    instancesOf: () => [],
    instance: () => undefined,
    node: () => undefined,
    nodes: () => [],
    certificate: () => undefined,
    challenge: () => undefined,
    challenges: () => [],
    onChange: () => () => undefined,
  }
}

/** Admits everything to one upstream, and counts admissions and their ends. A test sets its faults. */
export class FakeTraffic implements Traffic {
  host = '127.0.0.1'
  port = 0
  boot = 1
  fresh = false
  slept = false
  instanceUuid = 'instance-1'
  /** How many of the next admissions end with `gone` as soon as a listener is added to them. */
  goneAtOnce = 0
  wakeUs: number | undefined
  /** Called before each admission. It may refuse. */
  answer: ((ask: Ask) => Refusal | Promise<Refusal | undefined> | undefined) | undefined
  admitted = 0
  done = 0
  asked = 0
  readonly #listeners = new Set<(why: EndReason) => void>()
  #whenIdle: (() => void)[] = []

  get inFlight(): number {
    return this.admitted - this.done
  }

  admit(ask: Ask): Admission | Refusal | Promise<Admission | Refusal> {
    this.asked += 1
    const answer = this.answer?.(ask)
    if (answer instanceof Promise) return answer.then((refusal) => refusal ?? this.#admission())
    return answer ?? this.#admission()
  }

  /** Tells all listeners, as the balancer does, that the instance shuts down or is gone. */
  tell(why: EndReason): void {
    // Only the present listeners, not those that begin to listen because of this call.
    const told = new Set(this.#listeners)
    for (const listener of told) listener(why)
  }

  async idle(): Promise<void> {
    if (this.inFlight === 0) return
    await new Promise<void>((resolve) => this.#whenIdle.push(resolve))
  }

  #admission(): Admission {
    this.admitted += 1
    let over = false
    return {
      admitted: true,
      instanceUuid: this.instanceUuid,
      boot: this.boot,
      host: this.host,
      port: this.port,
      fresh: this.fresh,
      slept: this.slept,
      timing: {
        queuedUs: 10,
        ...(this.wakeUs === undefined ? {} : { wake: { kind: 'restore', wakeUs: this.wakeUs } }),
      },
      done: () => {
        if (over) return
        over = true
        this.done += 1
        if (this.inFlight === 0) for (const resolve of this.#whenIdle.splice(0)) resolve()
      },
      onEnd: (listener) => {
        this.#listeners.add(listener)
        if (this.goneAtOnce > 0) {
          this.goneAtOnce -= 1
          listener('gone')
        }
        return () => this.#listeners.delete(listener)
      },
      touch: () => undefined,
      awaken: () => undefined,
    }
  }
}

/** The ways by which the gateway reads HTTP/1.1. */
export const Road = { Fast: 'fast', Full: 'full' } as const
export type Road = (typeof Road)[keyof typeof Road]

/** Runs the same tests over both roads: every rule holds on both. */
export function onBothRoads(title: string, tests: (road: Road) => void): void {
  for (const road of Object.values(Road)) {
    describe(`${title} (${road} road)`, () => {
      before(() => {
        TestFront.road = road
      })
      after(() => {
        TestFront.road = Road.Fast
      })
      tests(road)
    })
  }
}

/**
 * A front for HTTP behind real listeners, one without TLS and one with it. They hand connections to the
 * front as the gateway's own listeners do.
 */
export class TestFront {
  /** The road that new fronts offer. */
  static road: Road = Road.Fast
  readonly traffic = new FakeTraffic()
  readonly reports: RequestReport[] = []
  readonly errors: unknown[] = []
  /** The bytes held by each connection that was ended because it held too many. */
  readonly overBudget: number[] = []
  /** The sources that were told for them. */
  readonly overBudgetOf: string[] = []
  readonly front: HttpFront
  readonly #clients: ClientConnections
  readonly #servers: Server[] = []
  readonly #sockets = new Set<Socket>()
  #reported: (() => void)[] = []
  plainPort = 0
  tlsPort = 0

  constructor(deps: Partial<HttpFrontDeps> = {}, limits: Partial<ClientLimits> = {}) {
    this.#clients = new ClientConnections(
      { ...defaultClientLimits, ...limits },
      {
        closed: () => undefined,
        overBudget: ({ source, bytes }) => {
          this.overBudget.push(bytes)
          this.overBudgetOf.push(source)
        },
      },
    )
    this.front = createHttpFront({
      routes: fixedRoutes(routeService()),
      traffic: this.traffic,
      portOffset: 0,
      observer: {
        request: (report) => {
          this.reports.push(report)
          for (const resolve of this.#reported.splice(0)) resolve()
        },
      },
      onError: (error) => this.errors.push(error),
      fastRoad: TestFront.road === Road.Fast,
      ...deps,
    })
  }

  static async start(
    deps: Partial<HttpFrontDeps> = {},
    limits: Partial<ClientLimits> = {},
  ): Promise<TestFront> {
    const front = new TestFront(deps, limits)
    front.plainPort = await front.listen(8000)
    front.tlsPort = await front.#listenTls()
    return front
  }

  /** Listens and returns the port. Connections to it count as connections to `publicPort`. */
  async listen(publicPort: number): Promise<number> {
    const server = createServer({ pauseOnConnect: false }, (socket) => {
      this.#sockets.add(socket)
      this.#take(socket, this.front.serveHttp1(socket, { publicPort, secure: false }))
    })
    return this.#started(server)
  }

  /** Listens for HTTP/2 without TLS, which costs less, and returns the port. */
  async listenHttp2(): Promise<number> {
    const server = createServer((socket) => {
      this.#sockets.add(socket)
      // The front needs of a connection over TLS only what it has of any other.
      this.#take(socket, this.front.serveHttp2(socket as TLSSocket, { publicPort: 443, secure: true }))
    })
    return this.#started(server)
  }

  /** Opens a connection of HTTP/2 over TLS. Resolves once the client has the server's settings. */
  async connectHttp2(): Promise<ClientHttp2Session> {
    const origin = `https://127.0.0.1:${this.tlsPort}`
    const session = connectHttp2(origin, { rejectUnauthorized: false, servername: testHost })
    await once(session, 'remoteSettings')
    return session
  }

  async report(): Promise<RequestReport> {
    if (this.reports.length === 0) await new Promise<void>((resolve) => this.#reported.push(resolve))
    const [first] = this.reports
    if (first === undefined) throw new Error('no report')
    return first
  }

  async close(): Promise<void> {
    await this.front.close()
    this.#clients.close()
    for (const socket of this.#sockets) socket.destroy()
    for (const server of this.#servers) server.close()
  }

  #take(socket: Socket, use: ConnectionUse): void {
    const place = this.#clients.take(socket)
    if (typeof place === 'string') throw new Error(place)
    place.use = use
  }

  async #listenTls(): Promise<number> {
    const { key, cert } = await testCertificate()
    const server = createTlsServer({
      key,
      cert,
      ALPNProtocols: ['h2', 'http/1.1'],
      SNICallback: (_name, done) => done(null, createSecureContext({ key, cert })),
    })
    server.on('secureConnection', (socket: TLSSocket) => {
      this.#sockets.add(socket)
      const on = { publicPort: 443, secure: true }
      const { front } = this
      const isHttp2 = socket.alpnProtocol === 'h2'
      this.#take(socket, isHttp2 ? front.serveHttp2(socket, on) : front.serveHttp1(socket, on))
    })
    server.on('tlsClientError', () => undefined)
    return this.#started(server)
  }

  async #started(server: Server): Promise<number> {
    this.#servers.push(server)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }
}

/** Sends bytes as they are, and returns everything that came back until the other side closed. */
export async function exchangeRaw(port: number, bytes: string | Buffer): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.write(bytes)
  return readAll(socket)
}

export async function readAll(socket: Socket): Promise<string> {
  let received = ''
  socket.setEncoding('latin1')
  socket.on('data', (chunk: string) => {
    received += chunk
  })
  socket.on('error', () => undefined)
  await once(socket, 'close')
  return received
}

/** Reads until `enough` accepts the received text. */
export async function readUntil(socket: Socket, enough: (received: string) => boolean): Promise<string> {
  let received = ''
  return new Promise((resolve, reject) => {
    const take = (chunk: Buffer): void => {
      received += chunk.toString('latin1')
      if (!enough(received)) return
      socket.off('data', take)
      socket.off('close', closed)
      resolve(received)
    }
    const closed = (): void => reject(new Error(`closed after ${JSON.stringify(received)}`))
    socket.on('data', take)
    socket.once('close', closed)
  })
}
