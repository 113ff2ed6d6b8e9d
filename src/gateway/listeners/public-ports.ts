import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { Handler } from '../../domain/service/handler.ts'
import type { PublishedPort } from '../../domain/service/handler.ts'
import type { ClientConnections, ConnectionRefusal } from '../clients/client-connections.ts'
import type { ConnectionUse } from '../clients/connection-use.ts'
import type { TrustsPeer } from '../clients/trusted-proxies.ts'
import type { HttpFront } from '../http/http-front.ts'
import type { Routes } from '../routes.ts'
import type { TcpFront } from '../tcp/tcp-front.ts'
import type { HandshakeOutcome } from './handshake.ts'
import type { ListenerLimits } from './listener-limits.ts'
import type { ProxyHeaderFault } from './proxy-header.ts'
import { PublicPort } from './public-port.ts'
import type { ServerContexts } from './server-contexts.ts'

export interface PublicPortsOptions {
  readonly routes: Routes
  readonly contexts: ServerContexts
  readonly http: HttpFront
  readonly tcp: TcpFront
  readonly clients: ClientConnections
  readonly portOffset: number
  readonly host: string | undefined
  readonly limits: ListenerLimits
  /** Whether other processes of the same user may listen on the ports beside this one. */
  readonly shared: boolean
  readonly trustsPeer: TrustsPeer
  /** Ports of this machine, with the offset. A service that publishes one gets no listener. */
  readonly withheld: ReadonlySet<number>
  readonly onRefused: (reason: ConnectionRefusal) => void
  readonly onHandshake: (outcome: HandshakeOutcome) => void
  readonly onProxyHeader: (fault: ProxyHeaderFault, peer: string) => void
  /** Called with the result of binding a port. `problem` is undefined if the port listens. */
  readonly onBind: (port: number, problem: Error | undefined) => void
}

export interface PortsState {
  readonly wanted: number
  readonly listening: number
  /** Ports for which the first attempt to listen has no result yet. */
  readonly untried: number
}

const highestPort = 65_535
/**
 * Ports that are open whether or not a service publishes them. If none does, a client gets a page that says
 * so. Authorities look for challenges there.
 */
const alwaysOpen: readonly PublishedPort[] = [
  { port: 80, destinationPort: 80, handlers: [Handler.Http] },
  { port: 443, destinationPort: 443, handlers: [Handler.Tls, Handler.Http] },
]

/** The listening ports: those that are always open, and those that some service publishes. */
export class PublicPorts {
  readonly #options: PublicPortsOptions
  readonly #ports = new Map<number, PublicPort>()
  #unsubscribe: (() => void) | undefined

  constructor(options: PublicPortsOptions) {
    this.#options = options
  }

  start(): void {
    this.#unsubscribe = this.#options.routes.onChange(({ services }) => {
      if (services.size > 0) this.#match()
    })
    this.#match()
  }

  get state(): PortsState {
    const all = [...this.#ports.values()]
    return {
      wanted: all.length,
      listening: all.filter(({ listening }) => listening).length,
      untried: all.filter(({ tried }) => !tried).length,
    }
  }

  close(): void {
    this.#unsubscribe?.()
    for (const port of this.#ports.values()) port.close()
    this.#ports.clear()
  }

  #match(): void {
    const wanted = new Map<number, PublishedPort>()
    for (const { ports } of this.#options.routes.services())
      for (const each of ports) if (this.#mayOpen(each.port)) wanted.set(each.port, each)
    for (const each of alwaysOpen) wanted.set(each.port, each)
    for (const [port, open] of this.#ports) {
      const still = wanted.get(port)
      if (still !== undefined && open.secure === isSecure(still) && open.http === isHttp(still)) continue
      open.close()
      this.#ports.delete(port)
    }
    for (const [port, published] of wanted) {
      if (!this.#ports.has(port)) this.#ports.set(port, this.#open(published))
    }
  }

  #mayOpen(port: number): boolean {
    const { portOffset, withheld, onBind } = this.#options
    const visible = port + portOffset
    if (visible <= highestPort && !withheld.has(visible)) return true
    onBind(port, new Error(visible > highestPort ? 'it is above 65535' : 'a part of the platform has it'))
    return false
  }

  #open(published: PublishedPort): PublicPort {
    const { portOffset, onBind, ...options } = this.#options
    const { port } = published
    return new PublicPort({
      ...options,
      port,
      offset: portOffset,
      secure: isSecure(published),
      http: isHttp(published),
      onConnection: isHttp(published)
        ? (socket, client) => this.#serveHttp(socket, { port, client })
        : (socket) => this.#serveTcp(socket, port),
      onBind: (problem) => onBind(port, problem),
    })
  }

  #serveHttp(
    socket: Socket | TLSSocket,
    { port: publicPort, client }: { readonly port: number; readonly client: string | undefined },
  ): ConnectionUse {
    const { http } = this.#options
    if (!('alpnProtocol' in socket)) return http.serveHttp1(socket, { publicPort, secure: false, client })
    return socket.alpnProtocol === 'h2'
      ? http.serveHttp2(socket, { publicPort, secure: true, client })
      : http.serveHttp1(socket, { publicPort, secure: true, client })
  }

  /** Serves a connection without HTTP. Only the name in the handshake says which service it is for. */
  #serveTcp(socket: Socket | TLSSocket, publicPort: number): ConnectionUse | undefined {
    const { routes, tcp } = this.#options
    const name: unknown = 'servername' in socket ? socket.servername : undefined
    const service =
      typeof name === 'string' ? routes.serviceOf(name.toLowerCase().replace(/\.$/, '')) : undefined
    const published = service?.ports.find(({ port }) => port === publicPort)
    if (service !== undefined && published !== undefined)
      return tcp.serve(socket, { service, port: published.destinationPort })
    socket.destroy()
    return undefined
  }
}

function isSecure({ handlers }: PublishedPort): boolean {
  return handlers.includes(Handler.Tls)
}

function isHttp({ handlers }: PublishedPort): boolean {
  return handlers.includes(Handler.Http) || handlers.includes(Handler.Redirect)
}
