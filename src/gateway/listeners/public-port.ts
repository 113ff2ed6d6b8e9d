import { createServer } from 'node:net'
import type { Server, Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { ClientConnections, ConnectionRefusal } from '../clients/client-connections.ts'
import type { ConnectionUse } from '../clients/connection-use.ts'
import { shakeHands } from './handshake.ts'
import type { HandshakeOutcome } from './handshake.ts'
import type { ListenerLimits } from './listener-limits.ts'
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
  /** Serves the connection and returns how it is used, or undefined if it was closed. */
  readonly onConnection: (socket: Socket | TLSSocket) => ConnectionUse | undefined
  readonly onRefused: (reason: ConnectionRefusal) => void
  readonly onHandshake: (outcome: HandshakeOutcome) => void
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
      options.onBind(error)
      if (!this.#closed) this.#retry = setTimeout(() => this.#listen(), options.limits.bindRetryMs).unref()
    })
    this.#server.on('listening', () => options.onBind(undefined))
    this.#listen()
  }

  get listening(): boolean {
    return this.#server.listening
  }

  /** Connections that the port accepted go on. */
  close(): void {
    this.#closed = true
    clearTimeout(this.#retry)
    if (this.#server.listening) this.#server.close()
  }

  #listen(): void {
    const { port, offset, host } = this.#options
    this.#server.listen({ port: port + offset, backlog, ...(host === undefined ? {} : { host }) })
  }

  #accept(socket: Socket): void {
    const { clients, onRefused, onConnection } = this.#options
    const connection = clients.take(socket)
    if (typeof connection === 'string') {
      onRefused(connection)
      socket.destroy()
      return
    }
    const serve = (ready: Socket | TLSSocket): void => {
      connection.use = onConnection(ready)
    }
    if (this.secure) {
      const { port, http, contexts, limits, onHandshake } = this.#options
      shakeHands(socket, {
        contexts,
        limitMs: limits.handshakeMs,
        http,
        challenges: port === challengePort,
        onOutcome: onHandshake,
        onConnection: serve,
      })
      return
    }
    socket.on('error', () => socket.destroy())
    serve(socket)
  }
}
