import { once } from 'node:events'
import { connect as connectPlain, createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { connect } from 'node:tls'
import type { ConnectionOptions, TLSSocket } from 'node:tls'
import type { RouteInstance, RouteLine, RouteService } from '../../src/domain/service/route-feed.ts'
import { createGateway } from '../../src/gateway/gateway.ts'
import type { Gateway, GatewayOptions } from '../../src/gateway/gateway.ts'
import type { CertificatePem } from '../../src/gateway/listeners/context-cache.ts'
import { RouteTable } from '../../src/gateway/route-table.ts'
import { FakeLeaseServer } from './fake-lease-server.ts'
import { routeService, testHost } from './gateway-http.ts'
import { testCertificate } from './gateway-http-certificate.ts'
import { until } from './until.ts'

export const tcpPort = 5432
export const pendingHost = 'pending.test'
const limitMs = 30_000
const silentLog = { info: () => undefined, warn: () => undefined, error: () => undefined }
/**
 * The bounds of the random port offset. All ports of the gateway stay below 32 768, where the system's ports
 * for outgoing connections begin. Any other collision shows as a port that can not be bound.
 */
const lowestOffset = 10_000
const offsets = 16_000

/**
 * A whole gateway with one service. The service's instance `a` is on a fake host, whose answers the test
 * sets. `respond` handles the connections that reach the instance.
 */
export class PublicGateway {
  readonly table: RouteTable
  readonly host: FakeLeaseServer
  readonly metro: { current: CertificatePem }
  readonly portOffset: number
  readonly gateway: Gateway
  readonly service: RouteService
  /** What the application does with a connection. */
  respond: (socket: Socket) => void = (socket) => socket.pipe(socket)
  /** The application's ends of connections. */
  readonly accepted: Socket[] = []
  readonly #clients: Socket[] = []
  readonly #application: Server

  constructor(
    parts: {
      readonly host: FakeLeaseServer
      readonly application: Server
      readonly metro: { current: CertificatePem }
    },
    over: Partial<GatewayOptions>,
    table: RouteTable,
  ) {
    this.host = parts.host
    this.metro = parts.metro
    this.table = table
    this.#application = parts.application
    this.#application.on('connection', (socket: Socket) => {
      socket.on('error', () => undefined)
      this.accepted.push(socket)
      this.respond(socket)
    })
    this.service = routeService({
      domains: [{ fqdn: testHost }, { fqdn: pendingHost, certificateUuid: 'c' }],
      ports: [
        { port: 443, destinationPort: 8080, handlers: ['tls', 'http'] },
        { port: tcpPort, destinationPort: tcpPort, handlers: ['tls'] },
      ],
    })
    this.portOffset = lowestOffset + Math.floor(Math.random() * offsets)
    this.gateway = createGateway({
      routes: this.table,
      metroCertificate: this.metro,
      portOffset: this.portOffset,
      host: '127.0.0.1',
      log: silentLog,
      ...over,
    })
  }

  static async start(over: Partial<GatewayOptions> = {}, table?: RouteTable): Promise<PublicGateway> {
    const { cert: chain, key } = await testCertificate()
    const host = await FakeLeaseServer.start()
    const application = createServer({ allowHalfOpen: true })
    application.listen(0, '127.0.0.1')
    await once(application, 'listening')
    host.reach = { host: '127.0.0.1', port: (application.address() as AddressInfo).port }
    const parts = { host, application, metro: { current: { chain, key } } }
    const all = new PublicGateway(parts, over, table ?? new RouteTable({ builtIn: [] }))
    all.tellAll()
    all.gateway.start()
    await all.listening()
    return all
  }

  tellAll(...more: readonly RouteLine[]): void {
    this.tell(
      { kind: 'node', node: this.host.node },
      { kind: 'certificate', certificate: { uuid: 'c', commonName: pendingHost, state: 'pending' } },
      { kind: 'service', service: this.service },
      { kind: 'instance', instance: this.instance },
      ...more,
    )
  }

  get instance(): RouteInstance {
    return { uuid: 'a', name: 'a', serviceUuid: this.service.uuid, nodeId: 'node-1', state: 'running' }
  }

  /** Applies a block of the feed. */
  tell(...lines: readonly RouteLine[]): void {
    this.table.apply({ kind: 'begin', snapshot: false })
    for (const line of lines) this.table.apply(line)
    this.table.apply({ kind: 'end', revision: '1' })
  }

  async listening(): Promise<void> {
    const allListen = (): boolean => this.gateway.ports.listening === this.gateway.ports.wanted
    await until('all ports listen', allListen, { limitMs })
  }

  /** A TLS client that may send after the other side has ended, or receive after its own end. */
  client(
    port = tcpPort,
    over: ConnectionOptions & { readonly localAddress?: string; readonly allowHalfOpen?: boolean } = {},
  ): TLSSocket {
    const to: ConnectionOptions & { readonly allowHalfOpen: boolean } = {
      port: port + this.portOffset,
      host: '127.0.0.1',
      servername: testHost,
      rejectUnauthorized: false,
      // Node has this option, but its types do not.
      allowHalfOpen: true,
      ...over,
    }
    return this.#own(connect(to))
  }

  /** A client that speaks no TLS. */
  plainClient(port = tcpPort): Socket {
    return this.#own(connectPlain(port + this.portOffset, '127.0.0.1'))
  }

  /** The value of one line of the metrics; undefined if there is no such line. */
  async metric(line: string): Promise<number | undefined> {
    const all = (await this.gateway.registry.metrics()).split('\n')
    const found = all.find((each) => each.startsWith(`${line} `))
    return found === undefined ? undefined : Number(found.slice(line.length + 1))
  }

  /**
   * Closes the clients too: clients of a test that failed would keep the process alive and hide the failure.
   */
  async close(): Promise<void> {
    await this.gateway.close()
    this.host.close()
    for (const socket of [...this.#clients, ...this.accepted]) socket.destroy()
    this.#application.close()
  }

  #own<Client extends Socket>(client: Client): Client {
    client.on('error', () => undefined)
    this.#clients.push(client)
    return client
  }
}

/**
 * Resolves when the socket was ended or reset; which of the two depends on the bytes under way. `once` would
 * reject for a reset.
 */
export async function closed(socket: Socket): Promise<void> {
  await new Promise<void>((resolve) => void socket.resume().once('close', () => resolve()))
}

/** Reads everything until the other side has ended. */
export async function everything(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  await once(socket, 'end')
  return Buffer.concat(chunks)
}
