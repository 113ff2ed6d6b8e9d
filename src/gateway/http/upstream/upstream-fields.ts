import { randomBytes } from 'node:crypto'
import type { ClientConnection } from '../client-connection.ts'
import type { RequestHead } from '../request-head.ts'

/**
 * Fields about one connection only, and fields that the gateway writes itself. None is passed on as it came.
 */
const dropped: ReadonlySet<string> = new Set([
  'host',
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authorization',
  'proxy-authenticate',
  'transfer-encoding',
  'te',
  'trailer',
  'upgrade',
  'http2-settings',
  'expect',
  'content-length',
  'x-request-id',
])

/**
 * Fields that say where the request came from. The values that a client sends are replaced, unless the
 * client is a trusted proxy.
 */
const origins: ReadonlySet<string> = new Set([
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-server',
  'x-forwarded-ssl',
  'x-forwarded-prefix',
  'x-real-ip',
])

/**
 * Fields that the HTTP/1.1 form of WebSocket needs and the HTTP/2 form lacks. The gateway writes them
 * itself.
 */
const handshake: ReadonlySet<string> = new Set(['sec-websocket-key', 'sec-websocket-accept'])

const lengths: ReadonlySet<number> = new Set(
  [...dropped, ...origins, ...handshake].map(({ length }) => length),
)

const saneId = /^[\w.~+/=:-]{1,128}$/

/**
 * The first part of a request's id, the same for all requests of this process; a number of the request
 * follows it. Such an id is as unique as a random one, for a fraction of its cost.
 */
const idPrefix = randomBytes(9).toString('base64url')
let idCount = 0

function newRequestId(): string {
  idCount += 1
  return `${idPrefix}-${idCount.toString(36)}`
}

export interface UpstreamFields {
  readonly fields: string[]
  readonly requestId: string
}

/**
 * The header for the instance, without the fields that delimit the body: the end-to-end fields as they came,
 * then the gateway's. It begins with Host.
 */
export function upstreamFields(
  head: RequestHead,
  connection: ClientConnection,
  traceparent?: string,
): UpstreamFields {
  const fields = ['Host', head.authority]
  for (let index = 0; index < head.fields.length; index += 2) {
    const name = head.fields[index] ?? ''
    if (traceparent !== undefined && isTraceparent(name)) continue
    if (isPassedOn(name, head, connection)) fields.push(name, head.fields[index + 1] ?? '')
  }
  const origin = connection.originFields(head)
  for (let index = 0; index < origin.length; index += 1) fields.push(origin[index] ?? '')
  if (traceparent !== undefined) fields.push('Traceparent', traceparent)
  const requestId = requestIdOf(head)
  fields.push('X-Request-Id', requestId)
  return { fields, requestId }
}

/** The same header as lines. */
export function upstreamLines(
  head: RequestHead,
  connection: ClientConnection,
  traceparent?: string,
): { readonly lines: string; readonly requestId: string } {
  let lines = `Host: ${head.authority}\r\n`
  for (let index = 0; index < head.fields.length; index += 2) {
    const name = head.fields[index] ?? ''
    if (traceparent !== undefined && isTraceparent(name)) continue
    if (isPassedOn(name, head, connection)) lines += `${name}: ${head.fields[index + 1] ?? ''}\r\n`
  }
  lines += connection.originLines(head)
  if (traceparent !== undefined) lines += `Traceparent: ${traceparent}\r\n`
  const requestId = requestIdOf(head)
  return { lines: `${lines}X-Request-Id: ${requestId}\r\n`, requestId }
}

/** The client's place in its trace, which the gateway's place replaces if the request is traced. */
export function isTraceparent(name: string): boolean {
  return name.length === 11 && name.toLowerCase() === 'traceparent'
}

function requestIdOf({ requestId }: RequestHead): string {
  return requestId !== undefined && saneId.test(requestId) ? requestId : newRequestId()
}

function isPassedOn(name: string, head: RequestHead, connection: ClientConnection): boolean {
  const named = head.connectionNames
  if (named === undefined && !lengths.has(name.length)) return true
  const lower = name.toLowerCase()
  if (dropped.has(lower) || named?.has(lower) === true || isOrigin(lower)) return false
  return !(head.webSocket && connection.http2 && handshake.has(lower))
}

/**
 * Whether a name is one of `origins`. Frameworks that turn `-` into `_` would confuse the two forms of a
 * name, so both count.
 */
function isOrigin(lower: string): boolean {
  return origins.has(lower) || (lower.includes('_') && origins.has(lower.replaceAll('_', '-')))
}

const forbiddenTrailers: ReadonlySet<string> = new Set([
  ...dropped,
  ...origins,
  'authorization',
  'cookie',
  'set-cookie',
  'content-encoding',
  'content-type',
  'content-range',
  'cache-control',
])

/**
 * The fields of a trailer that may be passed on. It may not contain fields that had to be known before the
 * body.
 */
export function trailerFields(raw: readonly string[]): string[] {
  const fields: string[] = []
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index] ?? ''
    if (!name.startsWith(':') && !forbiddenTrailers.has(name.toLowerCase())) {
      fields.push(name, raw[index + 1] ?? '')
    }
  }
  return fields
}
