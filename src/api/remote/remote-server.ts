import type { IncomingMessage, ServerResponse } from 'node:http'
import { performServerHandshake } from 'node:http2'
import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import { createServer } from 'node:tls'
import type { Server, TLSSocket } from 'node:tls'
import { isJsonObject, parseJson } from '../../domain/json-text.ts'
import { serverTls } from '../../trust/part-identity.ts'
import type { PartIdentity } from '../../trust/part-identity.ts'
import { closeServer, createApiServer } from '../server.ts'
import { noteHost } from './admitted-hosts.ts'
import type { JoinAnswer } from './join.ts'
import type { JoinedHosts } from './joined-hosts.ts'

export interface RemoteServerOptions {
  readonly identity: PartIdentity
  readonly hosts: JoinedHosts
  readonly join: (body: unknown) => Promise<JoinAnswer>
  /** Issues the next certificate of a host for the key of its connection. */
  readonly renew: (hostId: string, publicKey: string) => Promise<string>
  /** The API's own endpoints for hosts. */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => unknown
  /** Passes a host's call on to Temporal. */
  readonly temporal: (hostId: string, stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void
  /** Passes a host's request on to the registry. */
  readonly registry: (request: IncomingMessage, response: ServerResponse) => void
}

export interface RemoteServer {
  readonly server: Server
  close(graceMs: number): Promise<void>
}

/** Requests to join that are read at once. They need no certificate, so there are few of them. */
const maxJoins = 16
const maxJoinBytes = 4_096
const maxConnections = 8_192
const handshakeMs = 10_000
/** Calls of one host that are open at once. It has a few polls, and completions. */
const maxStreams = 1_024

/**
 * The server for parts on other machines: TLS 1.3 with the certificates of the installation's authority.
 * Without a certificate a machine can do nothing but join. A host reaches what is its own and nothing else.
 * HTTP/1.1 carries the API and the registry, HTTP/2 the calls to Temporal.
 */
export function createRemoteServer(options: RemoteServerOptions): RemoteServer {
  const joins = new JoinDesk(options.join)
  const plain = createApiServer((request, response) => {
    answer(options, joins, { request, response }).catch(() =>
      refuse(response, 500, 'the API failed; see its log'),
    )
  })
  const sockets = new Set<TLSSocket>()
  const server = createServer(
    { ...serverTls(options.identity), handshakeTimeout: handshakeMs, ALPNProtocols: ['h2', 'http/1.1'] },
    (socket) => {
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
      socket.on('error', () => undefined)
      if (socket.alpnProtocol === 'h2') void serveCalls(options, socket)
      else plain.emit('connection', socket)
    },
  )
  server.maxConnections = maxConnections
  return {
    server,
    async close(graceMs) {
      server.close()
      const late = setTimeout(() => sockets.forEach((socket) => socket.destroy()), graceMs)
      await closeServer(plain, graceMs)
      sockets.forEach((socket) => socket.destroy())
      clearTimeout(late)
    },
  }
}

/** Serves the calls of one connection, after it is known whose it is. */
async function serveCalls({ hosts, temporal }: RemoteServerOptions, socket: TLSSocket): Promise<void> {
  const hostId = await hosts.hostOf(socket).catch(() => undefined)
  if (hostId === undefined) {
    socket.destroy()
    return
  }
  const session = performServerHandshake(socket, { settings: { maxConcurrentStreams: maxStreams } })
  session.on('error', () => undefined)
  session.on('stream', (stream, headers) => {
    stream.on('error', () => undefined)
    temporal(hostId, stream, headers)
  })
}

async function answer(
  options: RemoteServerOptions,
  joins: JoinDesk,
  exchange: { readonly request: IncomingMessage; readonly response: ServerResponse },
): Promise<void> {
  const { request, response } = exchange
  const { pathname } = new URL(request.url ?? '/', 'https://roost')
  if (request.method === 'POST' && pathname === '/join') return await joins.answer(request, response)
  const socket = request.socket as TLSSocket
  const hostId = await options.hosts.hostOf(socket)
  if (hostId === undefined) return refuse(response, 401, strangers)
  const own = `/internal/nodes/${hostId}`
  if (request.method === 'POST' && pathname === `${own}/certificate`) {
    const key = socket.getPeerX509Certificate()!.publicKey
    const publicKey = key.export({ format: 'pem', type: 'spki' }).toString()
    send(response, 200, { certificate: await options.renew(hostId, publicKey) })
  } else if (pathname === own || pathname.startsWith(`${own}/`)) {
    noteHost(request, hostId)
    options.handle(request, response)
  } else if (request.method === 'GET' && pathname.startsWith('/v2/')) {
    options.registry(request, response)
  } else {
    refuse(response, 403, `host '${hostId}' may not ask for ${pathname}`)
  }
}

const strangers =
  'this machine has not joined the installation, or it was removed: `roost host invite` prints how it joins'

/** Reads requests to join, a few at a time. */
class JoinDesk {
  readonly #join: RemoteServerOptions['join']
  #busy = 0

  constructor(join: RemoteServerOptions['join']) {
    this.#join = join
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.#busy >= maxJoins) return refuse(response, 503, 'too many machines join at once: try again')
    this.#busy += 1
    try {
      const { status, body } = await this.#join(await readJson(request, maxJoinBytes))
      send(response, status, body)
    } finally {
      this.#busy -= 1
    }
  }
}

/** Undefined if the body is too long or no object. */
async function readJson(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBytes) return undefined
    chunks.push(chunk)
  }
  const json = parseJson(Buffer.concat(chunks).toString('utf8'))
  return isJsonObject(json) ? json : undefined
}

function refuse(response: ServerResponse, status: number, message: string): void {
  if (response.headersSent) response.destroy()
  else send(response, status, { message })
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
