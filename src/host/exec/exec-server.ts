import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import type { WebSocket } from 'ws'
import { maxExecMessageBytes } from '../../domain/instance/exec-protocol.ts'
import { bearsSecret } from '../../primitives/bearer-secret.ts'
import { keepAlive } from '../../primitives/web-socket-pulse.ts'
import { isCaller } from '../agent/agent-callers.ts'
import { ExecConnection } from './exec-connection.ts'
import type { ExecServerOptions } from './exec-connection.ts'

/** The most sessions of one host. Each instance has at most 8 programs and 64 connections. */
const maxSessions = 1_024

const pathPattern = /^\/instances\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/exec$/

/**
 * The server of `GET /instances/<uuid>/exec` (`src/domain/instance/exec-protocol.ts`), which the API calls.
 */
export class ExecServer {
  readonly #options: ExecServerOptions
  readonly #server = new WebSocketServer({
    noServer: true,
    maxPayload: maxExecMessageBytes,
    perMessageDeflate: false,
  })
  readonly #sockets = new Set<WebSocket>()

  constructor(options: ExecServerOptions) {
    this.#options = options
  }

  /**
   * Handles the `upgrade` event of the agent's server. Returns false if the request is about something else.
   */
  receive(request: IncomingMessage, socket: Duplex, head: Buffer): boolean {
    const [, instanceUuid] = pathPattern.exec(request.url ?? '') ?? []
    if (instanceUuid === undefined) return false
    socket.on('error', () => undefined)
    const refusal = this.#refusalOf(request)
    if (refusal !== undefined) {
      socket.end(`HTTP/1.1 ${refusal}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
      return true
    }
    this.#server.handleUpgrade(request, socket, head, (accepted) => {
      this.#sockets.add(accepted)
      accepted.once('close', () => this.#sockets.delete(accepted))
      // A message that is not sound closes the connection, and `close` follows.
      accepted.on('error', () => undefined)
      keepAlive(accepted)
      new ExecConnection(accepted, { ...this.#options, instanceUuid }).open()
    })
    return true
  }

  close(): void {
    for (const socket of this.#sockets) socket.terminate()
  }

  #refusalOf(request: IncomingMessage): string | undefined {
    if (!isCaller(request, 'exec')) return '403 Forbidden'
    if (!bearsSecret(request.headers.authorization, this.#options.agentSecret)) return '401 Unauthorized'
    return this.#sockets.size < maxSessions ? undefined : '503 Service Unavailable'
  }
}
