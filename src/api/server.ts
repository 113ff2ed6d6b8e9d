import { createServer, ServerResponse } from 'node:http'
import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { problem } from '../contract/errors.ts'
import type { FailureName } from '../contract/errors.ts'
import {
  headersTimeoutMs,
  keepAliveTimeoutMs,
  maxConnections,
  maxHeaderBytes,
  maxRequestsPerConnection,
  receiveTimeoutMs,
} from '../contract/limits.ts'
import { failureBody } from './middleware/error-envelope.ts'
import { asksForWebSocket } from './web-socket-request.ts'

/**
 * How long a client may take to send a request. Without these limits a slow client could hold a connection
 * for ever.
 */
export interface PatienceMs {
  readonly headers: number
  readonly request: number
  readonly checkEvery: number
}

const defaultPatience: PatienceMs = {
  headers: headersTimeoutMs,
  request: receiveTimeoutMs,
  checkEvery: 1_000,
}

/**
 * Makes the HTTP server with its limits. It refuses some requests before the API sees them; these answers
 * have the API's envelope, too.
 */
export function createApiServer(
  handle: (request: IncomingMessage, response: ServerResponse) => unknown,
  patience: PatienceMs = defaultPatience,
): Server {
  const server = createServer(
    {
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: patience.headers,
      requestTimeout: patience.request,
      keepAliveTimeout: keepAliveTimeoutMs,
      connectionsCheckingInterval: patience.checkEvery,
      // Requests that offer another protocol, such as HTTP/2, are answered as if they did not.
      shouldUpgradeCallback: asksForWebSocket,
    },
    (request, response) => void handle(request, response),
  )
  server.on('upgrade', (request, socket, head) => handleUpgrade(handle, { request, socket, head }))
  server.maxConnections = maxConnections
  server.maxRequestsPerSocket = maxRequestsPerConnection
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => refuse(socket, failureFor(error)))
  return server
}

/**
 * Lets the API see a request for an upgrade like any other, with all its checks. Its handler takes the socket
 * from the response; otherwise the answer is the last thing on the connection.
 */
function handleUpgrade(
  handle: (request: IncomingMessage, response: ServerResponse) => unknown,
  from: { readonly request: IncomingMessage; readonly socket: Duplex; readonly head: Buffer },
): void {
  const { request, socket, head } = from
  // The end of the connection follows as `close`.
  socket.on('error', () => undefined)
  if (head.length > 0) socket.unshift(head)
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket as Socket)
  response.once('finish', () => socket.end())
  void handle(request, response)
}

function failureFor(error: NodeJS.ErrnoException): FailureName {
  if (error.code === 'HPE_HEADER_OVERFLOW') return 'headersTooLarge'
  return error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'receiveTimeout' : 'badRequest'
}

const reasons: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
}

function refuse(socket: Duplex, name: FailureName): void {
  if (!socket.writable) return
  const wrong = problem(name)
  const body = JSON.stringify(failureBody([wrong]))
  const head = [
    `HTTP/1.1 ${wrong.httpStatus} ${reasons[wrong.httpStatus] ?? 'Error'}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

/**
 * How often idle connections are closed while the server closes. If a client got its last answer after the
 * close began, it would keep its connection open until the server ends it.
 */
const closeIdleEveryMs = 20

/**
 * Stops accepting connections, lets requests under way finish for at most `graceMs`, then closes the rest.
 */
export async function closeServer(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve())
  })
  const idle = setInterval(() => server.closeIdleConnections(), closeIdleEveryMs)
  const grace = setTimeout(() => server.closeAllConnections(), graceMs)
  await closed
  clearInterval(idle)
  clearTimeout(grace)
}
