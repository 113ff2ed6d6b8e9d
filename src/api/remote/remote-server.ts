import type { IncomingMessage, ServerResponse } from 'node:http'
import { createSecureServer } from 'node:http2'
import type { Http2SecureServer, Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import type { TLSSocket } from 'node:tls'
import { isJsonObject, parseJson } from '../../domain/json-text.ts'
import { headersTimeoutMs, maxHeaderBytes, receiveTimeoutMs } from '../../contract/limits.ts'
import { serverTls } from '../../trust/part-identity.ts'
import type { PartIdentity } from '../../trust/part-identity.ts'
import { noteHost } from './admitted-hosts.ts'
import type { JoinAnswer } from './join.ts'
import type { JoinedHosts } from './joined-hosts.ts'

export type RemoteRequest = IncomingMessage | Http2ServerRequest
export type RemoteResponse = ServerResponse | Http2ServerResponse

export interface RemoteServerOptions {
  readonly identity: PartIdentity
  readonly hosts: JoinedHosts
  readonly join: (body: unknown) => Promise<JoinAnswer>
  /** Issues the next certificate of a host for the key of its connection. */
  readonly renew: (hostId: string, publicKey: string) => Promise<string>
  /** The API's own endpoints for hosts. */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => unknown
  /** Passes a host's call on to Temporal. */
  readonly temporal: (hostId: string, request: Http2ServerRequest) => void
  /** Passes a host's request on to the registry. */
  readonly registry: (request: IncomingMessage, response: ServerResponse) => void
}

/** Requests to join that are read at once. They need no certificate, so there are few of them. */
const maxJoins = 16
const maxJoinBytes = 4_096
const maxConnections = 8_192
const handshakeMs = 10_000

/**
 * The server for parts on other machines: TLS 1.3 with the certificates of the installation's authority.
 * Without a certificate a machine can do nothing but join. A host reaches what is its own and nothing else.
 */
export function createRemoteServer(options: RemoteServerOptions): Http2SecureServer {
  const server = createSecureServer({
    ...serverTls(options.identity),
    allowHTTP1: true,
    handshakeTimeout: handshakeMs,
    http1Options: {
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: headersTimeoutMs,
      requestTimeout: receiveTimeoutMs,
    },
  } as Parameters<typeof createSecureServer>[0])
  server.maxConnections = maxConnections
  const joins = new JoinDesk(options.join)
  server.on('request', (request, response) => {
    answer(options, joins, { request, response }).catch(() =>
      refuse(response, 500, 'the API failed; see its log'),
    )
  })
  server.on('sessionError', () => undefined)
  server.on('tlsClientError', (_error, socket) => socket.destroy())
  return server
}

async function answer(
  options: RemoteServerOptions,
  joins: JoinDesk,
  { request, response }: { readonly request: RemoteRequest; readonly response: RemoteResponse },
): Promise<void> {
  const { pathname } = new URL(request.url ?? '/', 'https://roost')
  if (request.method === 'POST' && pathname === '/join') return await joins.answer(request, response)
  const hostId = await options.hosts.hostOf(connectionOf(request))
  if (hostId === undefined) return refuse(response, 403, strangers)
  if (isHttp2(request)) return options.temporal(hostId, request)
  const plain = response as ServerResponse
  const own = `/internal/nodes/${hostId}`
  if (request.method === 'POST' && pathname === `${own}/certificate`) {
    return await renew(options, hostId, { request, response })
  }
  if (pathname === own || pathname.startsWith(`${own}/`)) {
    noteHost(request, hostId)
    options.handle(request, plain)
    return
  }
  if (pathname.startsWith('/v2/') && request.method === 'GET') return options.registry(request, plain)
  refuse(response, 403, `host '${hostId}' may not ask for ${pathname}`)
}

const strangers =
  'this machine has not joined the installation, or it was removed: `roost host invite` prints how it joins'

async function renew(
  options: RemoteServerOptions,
  hostId: string,
  { request, response }: { readonly request: RemoteRequest; readonly response: RemoteResponse },
): Promise<void> {
  const key = connectionOf(request).getPeerX509Certificate()!.publicKey
  const publicKey = key.export({ format: 'pem', type: 'spki' }).toString()
  send(response, 200, { certificate: await options.renew(hostId, publicKey) })
}

/** Reads requests to join, a few at a time. */
class JoinDesk {
  readonly #join: RemoteServerOptions['join']
  #busy = 0

  constructor(join: RemoteServerOptions['join']) {
    this.#join = join
  }

  async answer(request: RemoteRequest, response: RemoteResponse): Promise<void> {
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
async function readJson(request: RemoteRequest, maxBytes: number): Promise<unknown> {
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

function isHttp2(request: RemoteRequest): request is Http2ServerRequest {
  return request.httpVersionMajor === 2
}

function connectionOf(request: RemoteRequest): TLSSocket {
  return (isHttp2(request) ? request.stream.session!.socket : request.socket) as TLSSocket
}

function refuse(response: RemoteResponse, status: number, message: string): void {
  if (response.headersSent) (response as ServerResponse).destroy()
  else send(response, status, { message })
}

function send(response: RemoteResponse, status: number, body: object): void {
  const plain = response as ServerResponse
  plain.writeHead(status, { 'content-type': 'application/json' })
  plain.end(JSON.stringify(body))
}
