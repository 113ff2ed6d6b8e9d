import { createServer } from 'node:net'
import type { Server, Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { ClientConnections, ConnectionRefusal } from '../clients/client-connections.ts'
import type { OpenConnection } from '../clients/client-network.ts'
import type { ConnectionUse } from '../clients/connection-use.ts'
import type { TrustsPeer } from '../clients/trusted-proxies.ts'
import { shakeHands } from './handshake.ts'
import type { HandshakeOutcome } from './handshake.ts'
import type { ListenerLimits } from './listener-limits.ts'
import type { ProxyHeaderFault } from './proxy-header.ts'
import { takeProxyHeader } from './proxy-header-reader.ts'
import type { ServerContexts } from './server-contexts.ts'

export interface PublicPortOptions {
  /** The public port, without the offset. */
  readonly port: number
  readonly offset: number
  readonly host: string | undefined
  readonly secure: boolean
  /** Whether HTTP is spoken on the port, so that ALPN chooses its version. */
  readonly http: boolean
  readonly contexts: ServerContexts
  readonly clients: ClientConnections
  readonly limits: ListenerLimits
  /** Whether other processes of the same user may listen on the port beside this one. */
  readonly shared: boolean
  /** Whether a peer may name its clients in a PROXY header. */
  readonly trustsPeer: TrustsPeer
  /**
   * Serves the connection and returns how it is used, or undefined if it was closed. `client` is the address
   * from a PROXY header.
   */
  readonly onConnection: (socket: Socket | TLSSocket, client: string | undefined) => ConnectionUse | undefined
  readonly onRefused: (reason: ConnectionRefusal) => void
  readonly onHandshake: (outcome: HandshakeOutcome) => void
  /** Called for a connection that was closed because of its PROXY header. */
  readonly onProxyHeader: (fault: ProxyHeaderFault, peer: string) => void
  readonly onBind: (problem: Error | undefined) => void
}

const relayBufferBytes = 256 << 10
const backlog = 4_096
/** Where authorities look for certificates of challenges (RFC 8737, 3). */
const challengePort = 443

/** One listening port, which tries to bind until it can. */
export class PublicPort {
  readonly secure: boolean
  readonly http: boolean
  readonly #options: PublicPortOptions
  readonly #server: Server
  #retry: NodeJS.Timeout | undefined
  #tried = false
  #closed = false

  constructor(options: PublicPortOptions) {
    this.#options = options
    this.secure = options.secure
    this.http = options.http
    const allowHalfOpen = !options.http
    this.#server = createServer(
      { allowHalfOpen, noDelay: true, highWaterMark: relayBufferBytes, pauseOnConnect: false },
      (socket) => this.#accept(socket),
    )
    this.#server.on('error', (error) => {
      this.#tried = true
      options.onBind(error)
      if (!this.#closed) this.#retry = setTimeout(() => this.#listen(), options.limits.bindRetryMs).unref()
    })
    this.#server.on('listening', () => {
      this.#tried = true
      options.onBind(undefined)
    })
    this.#listen()
  }

  get listening(): boolean {
    return this.#server.listening
  }

  /** Whether at least one attempt to listen has succeeded or failed. */
  get tried(): boolean {
    return this.#tried
  }

  /** Connections that the port accepted go on. */
  close(): void {
    this.#closed = true
    clearTimeout(this.#retry)
    if (this.#server.listening) this.#server.close()
  }

  #listen(): void {
    const { port, offset, host, shared } = this.#options
    this.#server.listen({
      port: port + offset,
      backlog,
      reusePort: shared,
      ...(host === undefined ? {} : { host }),
    })
  }

  #accept(socket: Socket): void {
    const { clients, trustsPeer, limits } = this.#options
    const peer = socket.remoteAddress ?? ''
    socket.on('error', () => socket.destroy())
    if (trustsPeer(peer)) return this.#acceptFromProxy(socket, peer)
    const connection = clients.take(socket)
    if (typeof connection === 'string') this.#refuse(socket, connection)
    else this.#serve(socket, connection, { limitMs: limits.handshakeMs, client: undefined })
  }

  #acceptFromProxy(socket: Socket, peer: string): void {
    const { clients, trustsPeer, limits, onProxyHeader } = this.#options
    const connection = clients.takeFromProxy(socket)
    if (typeof connection === 'string') return this.#refuse(socket, connection)
    const untilMs = performance.now() + limits.handshakeMs
    takeProxyHeader(socket, {
      limitMs: limits.handshakeMs,
      onClient: (client) => {
        // The client may be a trusted proxy itself, over which many others come.
        const refusal = clients.settle(
          connection,
          client === undefined || trustsPeer(client) ? undefined : client,
        )
        if (refusal !== undefined) this.#refuse(socket, refusal)
        else this.#serve(socket, connection, { limitMs: untilMs - performance.now(), client })
      },
      onFault: (fault) => {
        onProxyHeader(fault, peer)
        socket.destroy()
      },
    })
  }

  #refuse(socket: Socket, reason: ConnectionRefusal): void {
    this.#options.onRefused(reason)
    socket.destroy()
  }

  /** `limitMs`: the longest time for a handshake. */
  #serve(
    socket: Socket,
    connection: OpenConnection,
    { limitMs, client }: { readonly limitMs: number; readonly client: string | undefined },
  ): void {
    const { port, http, contexts, onHandshake, onConnection } = this.#options
    const serve = (ready: Socket | TLSSocket): void => {
      connection.use = onConnection(ready, client)
    }
    if (!this.secure) return serve(socket)
    shakeHands(socket, {
      contexts,
      limitMs,
      http,
      challenges: port === challengePort,
      onOutcome: onHandshake,
      onConnection: serve,
    })
  }
}
