import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { performServerHandshake } from 'node:http2'
import type { IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import { createServer } from 'node:tls'
import type { Server, TLSSocket } from 'node:tls'
import { PublicProtocol } from '../../domain/host/gateway-role.ts'
import { parseJson } from '../../domain/json-text.ts'
import type { PartName } from '../../domain/part-name.ts'
import { PlatformPart } from '../../domain/platform-part.ts'
import { otherVersion, protocolHeader, versionRefusal, wires } from '../../domain/protocols.ts'
import { serverTls } from '../../trust/part-identity.ts'
import type { PartIdentity } from '../../trust/part-identity.ts'
import { Counts } from '../../primitives/counts.ts'
import { createApiServer } from '../server.ts'
import { notePart } from './admitted-hosts.ts'
import type { JoinAnswer } from './join.ts'
import type { ConnectedPart, JoinedHosts } from './joined-hosts.ts'
import { Answerer, answererOf } from './part-paths.ts'
import { plainPath } from './plain-path.ts'
import { createPublicEntrance, isPublicProtocol } from './public-entrance.ts'

/** The host whose agent calls. */
export interface HostCaller extends Pick<ConnectedPart, 'keySha256'> {
  readonly hostId: string
}

export interface RemoteServerOptions {
  readonly identity: PartIdentity
  readonly hosts: JoinedHosts
  readonly join: (body: unknown) => Promise<JoinAnswer>
  /** Issues the next certificate of a part for the key of its connection. */
  readonly renew: (part: PartName, publicKey: string) => Promise<string>
  /** Where the processes of the API are. */
  readonly addresses: () => readonly string[]
  /** What the API and the worker of a host's machine need. Undefined if it has no such role. */
  readonly controlSettings: (hostId: string) => Promise<object | undefined>
  /** The API's own endpoints for hosts. */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => unknown
  /** Passes a host's call on to Temporal. */
  readonly temporal: (host: HostCaller, stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void
  /** Passes a host's request on to the registry. */
  readonly registry: (hostId: string, request: IncomingMessage, response: ServerResponse) => void
  /** Called when a request could not be answered. */
  readonly onFailure: (error: unknown) => void
  /** Where users push images, by what gateways that joined pass on. Absent: they push elsewhere. */
  readonly pushesAt?: { readonly host: string; readonly port: number }
}

export interface RemoteServer {
  readonly server: Server
  close(graceMs: number): Promise<void>
}

/**
 * Joins that are looked up at once. They need no certificate, so there are fewer of them than connections to
 * the database.
 */
const maxJoins = 4
const maxJoinBytes = 4_096
const maxConnections = 8_192
/** Connections from one address: no machine can take all. A gateway has one for each client of the API. */
const maxConnectionsPerAddress = 2_048
const handshakeMs = 10_000
/** Calls of one connection that are open at once. A host has a few polls, and completions. */
const maxStreams = 1_024
/** How often idle connections are closed while the server closes. */
const closeIdleEveryMs = 20
const protocols = ['h2', 'http/1.1', ...Object.values(PublicProtocol)]

/**
 * The server for parts on other machines: TLS 1.3 with the certificates of the installation's authority.
 * Without a certificate a machine can do nothing but join. A part reaches what is its own and nothing else
 * (`part-paths.ts`). HTTP/1.1 carries the API and the registry, HTTP/2 the calls to Temporal. What gateways
 * pass on of the public has an entrance of its own.
 */
export function createRemoteServer(options: RemoteServerOptions): RemoteServer {
  const joins = new JoinDesk(options.join)
  const plain = createApiServer((request, response) => {
    answer(options, joins, { request, response }).catch((error: unknown) => {
      options.onFailure(error)
      refuse(response, 500, 'the API failed; see its log')
    })
  })
  const published = createPublicEntrance(options)
  // The limits on the time that a request may take hold only once a server of HTTP listens. These get their
  // connections from the server of TLS, which listens for them.
  for (const one of [plain, published.server]) one.emit('listening')
  const sockets = new Set<Socket>()
  const sessions = new Set<ServerHttp2Session>()
  const server = createServer(
    { ...serverTls(options.identity), handshakeTimeout: handshakeMs, ALPNProtocols: protocols },
    (socket) => {
      socket.on('error', () => undefined)
      if (socket.alpnProtocol === 'h2') void serveCalls(options, socket, sessions)
      else if (isPublicProtocol(socket.alpnProtocol)) void published.take(socket)
      else plain.emit('connection', socket)
    },
  )
  server.maxConnections = maxConnections
  // The server waits for connections whose handshake is not over, too.
  const perAddress = new Counts()
  server.on('connection', (socket) => {
    const address = socket.remoteAddress ?? ''
    if (perAddress.of(address) >= maxConnectionsPerAddress) {
      socket.destroy()
      return
    }
    perAddress.add(address)
    sockets.add(socket)
    socket.once('close', () => {
      perAddress.remove(address)
      sockets.delete(socket)
    })
  })
  return {
    server,
    async close(graceMs) {
      const closed = once(server, 'close')
      server.close()
      for (const session of sessions) session.close()
      const closeIdle = (): void => [plain, published.server].forEach((one) => one.closeIdleConnections())
      const idle = setInterval(closeIdle, closeIdleEveryMs)
      const late = setTimeout(() => sockets.forEach((socket) => socket.destroy()), graceMs)
      await closed
      clearInterval(idle)
      clearTimeout(late)
      plain.close()
      published.server.close()
    },
  }
}

/** Serves the calls of one connection, after it is known whose it is. */
async function serveCalls(
  { hosts, temporal }: RemoteServerOptions,
  socket: TLSSocket,
  sessions: Set<ServerHttp2Session>,
): Promise<void> {
  const peer = await hosts.partOf(socket).catch(() => undefined)
  if (peer?.part !== PlatformPart.Agent) {
    socket.destroy()
    return
  }
  const session = performServerHandshake(socket, { settings: { maxConcurrentStreams: maxStreams } })
  sessions.add(session)
  session.once('close', () => sessions.delete(session))
  session.on('error', () => undefined)
  session.on('stream', (stream, headers) => {
    stream.on('error', () => undefined)
    temporal({ hostId: peer.id, keySha256: peer.keySha256 }, stream, headers)
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
  const part = await options.hosts.partOf(socket)
  const asked = { method: request.method ?? '', path: pathname }
  if (part === undefined) {
    // The connection stays that of a stranger, also when the client has a certificate that counts.
    response.setHeader('connection', 'close')
    const late = await options.hosts.latePartOf(socket, options.identity.authority)
    const mayRenew = late !== undefined && answererOf(late, asked) === Answerer.Certificate
    return mayRenew ? await renew(options, late, exchange) : refuse(response, 401, strangers)
  }
  switch (answererOf(part, asked)) {
    case Answerer.Certificate:
      return await renew(options, part, exchange)
    case Answerer.Addresses:
      return send(response, 200, { addresses: options.addresses() })
    case Answerer.ControlSettings: {
      const settings = await options.controlSettings(part.id)
      return settings ? send(response, 200, settings) : refuse(response, 403, notOwn(part, pathname))
    }
    case Answerer.Api:
      notePart(request, part)
      return void options.handle(request, response)
    case Answerer.Registry:
      return options.registry(part.id, request, response)
    case undefined:
      refuse(response, 403, notOwn(part, pathname))
  }
}

/** Answers with the next certificate of a part, for the key of its connection. */
async function renew(
  options: RemoteServerOptions,
  part: PartName,
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
): Promise<void> {
  const key = (request.socket as TLSSocket).getPeerX509Certificate()!.publicKey
  const publicKey = key.export({ format: 'pem', type: 'spki' }).toString()
  send(response, 200, { certificate: await options.renew(part, publicKey) })
}

/** Why a part may not ask for a path. */
function notOwn(part: PartName, pathname: string): string {
  const [, other] = /^\/internal\/nodes\/([^/]+)(?:\/|$)/.exec(pathname) ?? []
  if (part.part !== PlatformPart.Agent || other === undefined || other === part.id)
    return `${wordOf(part)} may not ask for ${pathname}`
  return (
    `the certificate of this machine is that of host '${part.id}', and not of '${other}': \`npx roost join\` without arguments ` +
    `runs it as '${part.id}', and \`roost host invite\` prints how another machine joins`
  )
}

/** An agent is its host to everybody who reads messages. */
function wordOf({ part, id }: PartName): string {
  return part === PlatformPart.Agent ? `host '${id}'` : `the ${part} of host '${id}'`
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
    const told = request.headers[protocolHeader]?.toString()
    const refusal = versionRefusal(wires.join, told, { peer: 'this machine', own: 'the control plane' })
    if (refusal !== undefined) return refuse(response, otherVersion, refusal)
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
