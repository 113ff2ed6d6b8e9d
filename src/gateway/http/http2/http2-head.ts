import { isField } from '../field-lines.ts'
import type { ReceivedHead } from '../request-head.ts'

/** The fields of a request that do not make one (RFC 9113, 8.1.1). Its stream is reset. */
export class MalformedRequest extends Error {
  override readonly name = 'MalformedRequest'
}

const pseudoNames = [':method', ':scheme', ':authority', ':path', ':protocol'] as const
type PseudoName = (typeof pseudoNames)[number]
type Pseudo = Partial<Record<PseudoName, string>>

/** Fields about one connection, which HTTP/2 has not. */
const connectionNames: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
])

const method = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const schemeName = /^[A-Za-z][A-Za-z0-9+.-]*$/
const pathBytes = /^[\x21-\x7e\x80-\xff]*$/
const upperCase = /[A-Z]/

/**
 * Makes a head of the fields of a request, as they came. `ended`: no body follows. Throws
 * `MalformedRequest`.
 */
export function receivedHead(received: readonly string[], ended: boolean): ReceivedHead {
  const pseudo: Pseudo = {}
  let at = 0
  for (; received[at]?.charCodeAt(0) === colon; at += 2) readPseudo(pseudo, received[at], received[at + 1])
  const fields = received.slice(at)
  const contentLength = checkFields(fields)
  joinCookies(fields)
  if (ended && contentLength !== undefined && !/^0+$/.test(contentLength)) {
    throw new MalformedRequest('the body is shorter than it said')
  }
  checkPseudo(pseudo)
  const webSocket = pseudo[':method'] === 'CONNECT' && pseudo[':protocol'] === 'websocket'
  return {
    method: webSocket ? 'GET' : (pseudo[':method'] ?? ''),
    target: pseudo[':path'] ?? '/',
    fields,
    authority: pseudo[':authority'],
    // The bytes of a WebSocket, which pass both ways, are not a body.
    hasBody: !ended && !webSocket,
    webSocket,
  }
}

/**
 * A client of HTTP/2 may send each cookie in a field of its own. In HTTP/1.1 there is only one field (RFC
 * 9113, 8.2.3).
 */
function joinCookies(fields: string[]): void {
  const first = fields.findIndex((name, at) => at % 2 === 0 && name === 'cookie')
  if (first < 0) return
  for (let at = first + 2; at < fields.length;) {
    if (fields[at] !== 'cookie') at += 2
    else fields[first + 1] = joined(fields[first + 1] ?? '', fields.splice(at, 2)[1] ?? '')
  }
}

function joined(cookies: string, more: string): string {
  return cookies === '' || more === '' ? cookies + more : `${cookies}; ${more}`
}

/** Whether fields may stand after a body. */
export function areTrailers(fields: readonly string[]): boolean {
  try {
    checkFields(fields)
    return !fields.some((name, at) => at % 2 === 0 && name === 'host')
  } catch (error) {
    if (error instanceof MalformedRequest) return false
    throw error
  }
}

/** Checks fields that are no pseudo fields. Returns a content length. */
function checkFields(fields: readonly string[]): string | undefined {
  let contentLength: string | undefined
  for (let at = 0; at < fields.length; at += 2) {
    const name = fields[at] ?? ''
    const value = fields[at + 1] ?? ''
    if (!isField(name, value) || upperCase.test(name) || hasBlankAtEnds(value)) {
      throw new MalformedRequest('a field is not valid')
    }
    if (connectionNames.has(name) || (name === 'te' && value !== 'trailers')) {
      throw new MalformedRequest('a field is about a connection')
    }
    if (name === 'content-length') contentLength = value
  }
  return contentLength
}

const colon = 0x3a
const blanks: ReadonlySet<number> = new Set([0x20, 0x09])

function hasBlankAtEnds(value: string): boolean {
  return blanks.has(value.charCodeAt(0)) || blanks.has(value.charCodeAt(value.length - 1))
}

function readPseudo(pseudo: Pseudo, name: string | undefined, value: string | undefined): void {
  const known = pseudoNames.find((each) => each === name)
  if (known === undefined || pseudo[known] !== undefined) {
    throw new MalformedRequest('a pseudo field is not known, or is there twice')
  }
  pseudo[known] = value
}

function checkPseudo(pseudo: Pseudo): void {
  const { ':method': verb = '', ':path': path, ':scheme': scheme, ':authority': authority } = pseudo
  if (!method.test(verb)) throw new MalformedRequest('the method is not valid')
  if (pseudo[':protocol'] !== undefined) {
    if (verb !== 'CONNECT' || authority === undefined)
      throw new MalformedRequest('a protocol is out of place')
  } else if (verb === 'CONNECT') {
    if (path !== undefined || scheme !== undefined || authority === undefined) {
      throw new MalformedRequest('CONNECT names an authority and nothing else')
    }
    return
  }
  if (scheme === undefined || !schemeName.test(scheme)) throw new MalformedRequest('the scheme is not valid')
  const isPath = path?.startsWith('/') === true || (path === '*' && verb === 'OPTIONS')
  if (!isPath || !pathBytes.test(path)) {
    throw new MalformedRequest('the path is not valid')
  }
}
