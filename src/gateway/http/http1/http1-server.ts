import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { ConnectionUse } from '../../clients/connection-use.ts'
import type { ClientConnection } from '../client-connection.ts'
import { forwardExactly } from '../forward/exact-forward.ts'
import { Exchange } from '../exchange.ts'
import type { FrontParts } from '../front-parts.ts'
import { lateHead, refuseConnection } from './http1-refusal.ts'
import { Http1Side, upgradeResponse } from './http1-side.ts'
import { HttpFailure } from '../http-failure.ts'
import type { HttpLimits } from '../http-limits.ts'
import { http1Use } from '../http-use.ts'
import { forwardPlain } from '../forward/plain-forward.ts'
import { headTooLarge, readRequestHead } from '../request-head.ts'
import { webSocketForward } from '../forward/websocket-forward.ts'

/**
 * The full road: HTTP/1.1 by Node's own server, for the requests that the fast road leaves to it. It
 * answers on connections that are given to it one by one; it does not listen itself.
 */
export class Http1Server {
  readonly #parts: FrontParts
  readonly #server: Server
  readonly #connections = new Map<Duplex, ClientConnection>()
  #closing = false

  constructor(parts: FrontParts) {
    this.#parts = parts
    const { limits } = parts
    this.#server = createServer({
      maxHeaderSize: limits.maxHeaderBytes,
      headersTimeout: limits.headerMs,
      // There is no limit on the whole request: a body may take any time as long as it moves.
      requestTimeout: 0,
      connectionsCheckingInterval: Math.min(1_000, limits.headerMs / 4),
      keepAliveTimeout: limits.keepAliveMs,
      requireHostHeader: false,
      insecureHTTPParser: false,
      shouldUpgradeCallback: wantsWebSocket,
    })
    // 0 means no limit. Node would silently drop the fields beyond its limit; the gateway counts the
    // fields, and refuses.
    this.#server.maxHeadersCount = 0
    this.#server.on('request', (request, response) => this.#request(request, response))
    this.#server.on('checkContinue', (request, response) => this.#request(request, response))
    this.#server.on('checkExpectation', (request, response) => this.#request(request, response))
    this.#server.on('upgrade', (request, socket) => this.#upgrade(request, socket))
    this.#server.on('connect', (_request, socket) =>
      refuseConnection(socket, { status: 405, message: 'CONNECT is not offered here.' }, limits),
    )
    this.#server.on('clientError', (error, socket) => this.#clientError(error, socket))
    // Node begins to watch for slow heads at this event. A server that does not listen does not emit it.
    this.#server.emit('listening')
  }

  get size(): number {
    return this.#connections.size
  }

  serve(socket: Socket, connection: ClientConnection): ConnectionUse {
    this.#connections.set(socket, connection)
    socket.on('close', () => {
      this.#connections.delete(socket)
      for (const ongoing of connection.ongoing) ongoing.clientGone()
    })
    this.#server.emit('connection', socket)
    return http1Use(socket, connection)
  }

  /** From now on every answer is the last of its connection. Idle connections wait for one more request. */
  retire(): void {
    this.#closing = true
  }

  /**
   * Ends idle connections; the others end with the answer under way. The caller repeats it, for connections
   * whose answer had begun.
   */
  drain(): void {
    this.#closing = true
    for (const [socket, connection] of this.#connections) {
      if (connection.ongoing.size === 0 && socket instanceof Socket) socket.destroySoon()
    }
  }

  close(): void {
    this.#closing = true
    this.#server.close()
    for (const socket of this.#connections.keys()) socket.destroy()
  }

  #request(request: IncomingMessage, response: ServerResponse): void {
    const connection = this.#connections.get(request.socket)
    if (connection === undefined) {
      request.socket.destroy()
      return
    }
    connection.requests += 1
    const last = connection.requests >= this.#parts.limits.maxRequestsPerConnection
    if (last || this.#closing) response.shouldKeepAlive = false
    this.#run({ request, response, webSocket: false }, connection)
  }

  #upgrade(request: IncomingMessage, socket: Duplex): void {
    const connection = this.#connections.get(socket)
    // Node no longer listens to the errors of this socket.
    socket.on('error', () => socket.destroy())
    if (connection === undefined) socket.destroy()
    else
      this.#run({ request, response: upgradeResponse(request, request.socket), webSocket: true }, connection)
  }

  #run(received: Received, connection: ClientConnection): void {
    const { limits } = this.#parts
    const { request, response, webSocket } = received
    const side = new Http1Side({ request, response, connection, lingerMs: limits.lingerMs })
    const exchange = new Exchange(this.#parts, side, request.method ?? '')
    try {
      if (connection.ongoing.size > limits.maxPipelined) {
        throw new HttpFailure(429, 'Too many requests were sent before the answers to earlier ones.')
      }
      const head = readRequestHead(
        {
          method: request.method ?? '',
          target: request.url ?? '',
          fields: request.rawHeaders,
          authority: undefined,
          hasBody: undefined,
          webSocket,
        },
        limits,
      )
      const exact = head.bodyBytes === undefined || head.expectsContinue || head.target === '*'
      exchange.run(head, webSocket ? webSocketForward(side) : exact ? forwardExactly : forwardPlain)
    } catch (error) {
      // After this error it is not certain where the next request on the connection begins.
      connection.failed = true
      response.shouldKeepAlive = false
      exchange.failWith(error)
    }
  }

  #clientError(error: Error, socket: Duplex): void {
    const connection = this.#connections.get(socket)
    if (connection?.failed === true) return
    if (connection !== undefined) connection.failed = true
    const { status, message } = answerTo(error, this.#parts.limits)
    if (status === undefined || !socket.writable) {
      socket.destroy()
      return
    }
    const first = connection?.ongoing.first
    if (first === undefined) return refuseConnection(socket, { status, message }, this.#parts.limits)
    // The broken request ends the connection: everything after it is lost, and so is the rest of an answer
    // that has begun.
    if (!first.clientFailed(status, message)) socket.destroy()
    else socket.end()
  }
}

interface Received {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly webSocket: boolean
}

/**
 * Whether an upgrade is accepted: only if its request can have no body, and only to WebSocket. Any other
 * request is treated as ordinary HTTP.
 */
function wantsWebSocket(request: IncomingMessage): boolean {
  const { headers } = request
  return (
    request.method === 'GET' &&
    request.httpVersionMinor === 1 &&
    headers.upgrade?.toLowerCase() === 'websocket' &&
    headers['sec-websocket-key'] !== undefined &&
    headers['transfer-encoding'] === undefined &&
    headers['content-length'] === undefined
  )
}

function answerTo(
  error: Error,
  limits: HttpLimits,
): { readonly status: number | undefined; readonly message: string } {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (code === 'HPE_HEADER_OVERFLOW') return headTooLarge(limits)
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return lateHead
  }
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') {
    return { status: 413, message: 'The body of the request has too long chunk extensions.' }
  }
  if (code.startsWith('HPE_')) return { status: 400, message: 'The request is not valid HTTP.' }
  return { status: undefined, message: '' }
}
