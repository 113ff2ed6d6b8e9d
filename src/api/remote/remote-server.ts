import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { performServerHandshake } from 'node:http2'
import type { IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import { createServer } from 'node:tls'
import type { Server, TLSSocket } from 'node:tls'
import { parseJson } from '../../domain/json-text.ts'
import { serverTls } from '../../trust/part-identity.ts'
import type { PartIdentity } from '../../trust/part-identity.ts'
import { createApiServer } from '../server.ts'
import { noteHost } from './admitted-hosts.ts'
import type { JoinAnswer } from './join.ts'
import type { ConnectedHost, JoinedHosts } from './joined-hosts.ts'
import { plainPath } from './plain-path.ts'

export interface RemoteServerOptions {
  readonly identity: PartIdentity
  readonly hosts: JoinedHosts
  readonly join: (body: unknown) => Promise<JoinAnswer>
  /** Issues the next certificate of a host for the key of its connection. */
  readonly renew: (hostId: string, publicKey: string) => Promise<string>
  /** The API's own endpoints for hosts. */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => unknown
  /** Passes a host's call on to Temporal. */
  readonly temporal: (host: ConnectedHost, stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void
  /** Passes a host's request on to the registry. */
  readonly registry: (request: IncomingMessage, response: ServerResponse) => void
}

export interface RemoteServer {
  readonly server: Server
  close(graceMs: number): Promise<void>
}

/** Joins that are looked up at once. They need no certificate, so there are few of them. */
const maxJoins = 16
const maxJoinBytes = 4_096
const maxConnections = 8_192
const handshakeMs = 10_000
/** Calls of one host that are open at once. It has a few polls, and completions. */
const maxStreams = 1_024
/** How often idle connections are closed while the server closes. */
const closeIdleEveryMs = 20

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
  // The limits on the time that a request may take hold only once a server of HTTP listens. This one gets
  // its connections from the server of TLS, which listens for it.
  plain.emit('listening')
  const sockets = new Set<Socket>()
  const sessions = new Set<ServerHttp2Session>()
  const server = createServer(
    { ...serverTls(options.identity), handshakeTimeout: handshakeMs, ALPNProtocols: ['h2', 'http/1.1'] },
    (socket) => {
      socket.on('error', () => undefined)
      if (socket.alpnProtocol === 'h2') void serveCalls(options, socket, sessions)
      else plain.emit('connection', socket)
    },
  )
  server.maxConnections = maxConnections
  // The server waits for connections whose handshake is not over, too.
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  return {
    server,
    async close(graceMs) {
      const closed = once(server, 'close')
      server.close()
      for (const session of sessions) session.close()
      const idle = setInterval(() => plain.closeIdleConnections(), closeIdleEveryMs)
      const late = setTimeout(() => sockets.forEach((socket) => socket.destroy()), graceMs)
      await closed
      clearInterval(idle)
      clearTimeout(late)
      plain.close()
    },
  }
}

/** Serves the calls of one connection, after it is known whose it is. */
async function serveCalls(
  { hosts, temporal }: RemoteServerOptions,
  socket: TLSSocket,
  sessions: Set<ServerHttp2Session>,
): Promise<void> {
  const host = await hosts.hostOf(socket).catch(() => undefined)
  if (host === undefined) {
    socket.destroy()
    return
  }
  const session = performServerHandshake(socket, { settings: { maxConcurrentStreams: maxStreams } })
  sessions.add(session)
  session.once('close', () => sessions.delete(session))
  session.on('error', () => undefined)
  session.on('stream', (stream, headers) => {
    stream.on('error', () => undefined)
    temporal(host, stream, headers)
  })
}

async function answer(
  options: RemoteServerOptions,
  joins: JoinDesk,
  exchange: { readonly request: IncomingMessage; readonly response: ServerResponse },
): Promise<void> {
  const { request, response } = exchange
  const pathname = plainPath(request.url ?? '')
  if (pathname === undefined) return refuse(response, 400, unclearPath)
  if (request.method === 'POST' && pathname === '/join') return await joins.answer(request, response)
  const socket = request.socket as TLSSocket
  const host = await options.hosts.hostOf(socket)
  if (host === undefined) return refuse(response, 401, strangers)
  const { hostId } = host
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
    refuse(response, 403, notOwn(hostId, pathname))
  }
}

/** Why a host may not ask for a path. */
function notOwn(hostId: string, pathname: string): string {
  const [, other] = /^\/internal\/nodes\/([^/]+)(?:\/|$)/.exec(pathname) ?? []
  if (other === undefined) return `host '${hostId}' may not ask for ${pathname}`
  return (
    `the certificate of this machine is that of host '${hostId}', and not of '${other}': \`npx roost join\` without arguments ` +
    `runs it as '${hostId}', and \`roost host invite\` prints how another machine joins`
  )
}

const unclearPath = "the path is not plain: write it without escapes, '.', '..' and empty parts"
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
    const read = await readText(request, maxJoinBytes)
    if (read === undefined) {
      // The rest of the body is not read, so the connection can not be used again.
      response.setHeader('connection', 'close')
      return refuse(response, 413, `a request to join has at most ${maxJoinBytes} bytes`)
    }
    if (this.#busy >= maxJoins) return refuse(response, 503, 'too many machines join at once: try again')
    this.#busy += 1
    try {
      const { status, body } = await this.#join(parseJson(read))
      send(response, status, body)
    } finally {
      this.#busy -= 1
    }
  }
}

/** Undefined if the body is too long. */
async function readText(request: IncomingMessage, maxBytes: number): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function refuse(response: ServerResponse, status: number, message: string): void {
  if (response.headersSent) response.destroy()
  else send(response, status, { message })
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
