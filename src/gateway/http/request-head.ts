import { HttpFailure } from './http-failure.ts'
import type { HttpLimits } from './http-limits.ts'

/** The parts of a request's head that decide where the request goes, and how its body is delimited. */
export interface RequestHead {
  readonly method: string
  /** The target in origin form: a path with its query, or `*`. */
  readonly target: string
  /** The value of the only Host field as it was sent, with its port if it has one. */
  readonly authority: string
  /** The authority as it is looked up: lower case, no port, no final dot. */
  readonly host: string
  /** The fields without pseudo headers; names as they were sent. */
  readonly fields: readonly string[]
  /**
   * The length of the body. 0 means that there is none; undefined that the length is not known before its
   * end.
   */
  readonly bodyBytes: number | undefined
  readonly expectsContinue: boolean
  readonly webSocket: boolean
  readonly grpc: boolean
  readonly accept: string
  readonly requestId: string | undefined
  /** Names that `Connection` lists, beyond the usual ones. */
  readonly connectionNames: ReadonlySet<string> | undefined
}

/** A head before it is known to be valid, in the form of either protocol. */
export interface ReceivedHead {
  readonly method: string
  readonly target: string
  readonly fields: readonly string[]
  /** The authority of HTTP/2; undefined in HTTP/1.1. */
  readonly authority: string | undefined
  /**
   * In HTTP/2: whether the stream did not end with its head. It is undefined in HTTP/1.1, where the fields
   * say whether there is a body.
   */
  readonly hasBody: boolean | undefined
  readonly webSocket: boolean
}

class FoundFields {
  host: string | undefined
  bytes = 0
  contentLength: string | undefined
  transferEncoding: string | undefined
  expect: string | undefined
  accept = ''
  contentType = ''
  requestId: string | undefined
  connectionNames: Set<string> | undefined
}

const badRequest = (message: string): HttpFailure => new HttpFailure(400, message)

/** The refusal of a head that is larger than a request's may be. */
export function headTooLarge({ maxHeaderBytes, maxHeaderCount }: HttpLimits): HttpFailure {
  const bounds = `${maxHeaderBytes} bytes or ${maxHeaderCount} fields`
  return new HttpFailure(431, `The header of the request has more than ${bounds}.`)
}

/** Checks a head and reads what the gateway needs of it. Throws `HttpFailure`. */
export function readRequestHead(received: ReceivedHead, limits: HttpLimits): RequestHead {
  const { fields, method } = received
  if (received.target.length > limits.maxTargetBytes) {
    throw new HttpFailure(414, `The address has more than ${limits.maxTargetBytes} bytes.`)
  }
  const found = readFields(fields)
  if (found.bytes > limits.maxHeaderBytes || fields.length > limits.maxHeaderCount * 2) {
    throw headTooLarge(limits)
  }
  if (received.authority !== undefined && found.host !== undefined && found.host !== received.authority) {
    throw badRequest('The request names two hosts.')
  }
  const { target, authority } = splitTarget(received.target, received.authority ?? found.host)
  return {
    method,
    target,
    authority,
    host: hostOf(authority),
    fields,
    bodyBytes: bodyBytesOf(found, received.hasBody),
    expectsContinue: expectsContinue(found.expect),
    webSocket: received.webSocket,
    grpc: isGrpc(found.contentType),
    accept: found.accept,
    requestId: found.requestId,
    connectionNames: found.connectionNames,
  }
}

function readFields(fields: readonly string[]): FoundFields {
  const found = new FoundFields()
  for (let index = 0; index < fields.length; index += 2) {
    const name = fields[index] ?? ''
    const value = fields[index + 1] ?? ''
    found.bytes += name.length + value.length + 4
    readField(found, name, value)
  }
  return found
}

/**
 * Notes a field if the gateway needs it. The length is compared first: most names are then known to be
 * others without a look at their letters.
 */
function readField(found: FoundFields, name: string, value: string): void {
  switch (name.length) {
    case 4:
      if (name.toLowerCase() !== 'host') return
      if (found.host !== undefined) throw badRequest('The request has several Host headers.')
      found.host = value
      return
    case 6:
      if (name.toLowerCase() === 'accept') found.accept += found.accept === '' ? value : `, ${value}`
      else if (name.toLowerCase() === 'expect') found.expect = value
      return
    case 10:
      if (value !== 'keep-alive' && value !== 'close' && name.toLowerCase() === 'connection') {
        readConnection(found, value)
      }
      return
    case 12:
      if (name.toLowerCase() === 'content-type') found.contentType = value
      else if (name.toLowerCase() === 'x-request-id') found.requestId = value
      return
    case 14:
      if (name.toLowerCase() !== 'content-length') return
      if (found.contentLength !== undefined) throw badRequest('The request has several Content-Lengths.')
      found.contentLength = value
      return
    case 17:
      if (name.toLowerCase() !== 'transfer-encoding') return
      if (found.transferEncoding !== undefined)
        throw badRequest('The request has several Transfer-Encodings.')
      found.transferEncoding = value
      return
    default:
  }
}

const maxConnectionNames = 32

function readConnection(found: FoundFields, value: string): void {
  const names = (found.connectionNames ??= new Set())
  for (const part of value.split(',')) {
    names.add(part.trim().toLowerCase())
    if (names.size > maxConnectionNames) throw badRequest('The Connection header names too many others.')
  }
}

const digits = /^\d{1,15}$/

function bodyBytesOf(found: FoundFields, hasBody: boolean | undefined): number | undefined {
  const { contentLength, transferEncoding } = found
  if (contentLength !== undefined && !digits.test(contentLength))
    throw badRequest('Content-Length is no number.')
  if (transferEncoding !== undefined) {
    // Two ways to say where a body ends would allow request smuggling. HTTP/2 has a way of its own.
    if (contentLength !== undefined || hasBody !== undefined) {
      throw badRequest('Transfer-Encoding can not stand beside another length.')
    }
    if (transferEncoding.toLowerCase() !== 'chunked') {
      throw new HttpFailure(501, 'The only Transfer-Encoding of a request is chunked.')
    }
    return undefined
  }
  if (hasBody === false) return 0
  if (contentLength !== undefined) return Number(contentLength)
  return hasBody === true ? undefined : 0
}

function expectsContinue(expect: string | undefined): boolean {
  if (expect === undefined) return false
  if (expect.toLowerCase() !== '100-continue') throw new HttpFailure(417, 'The only Expect is 100-continue.')
  return true
}

/** Whether the request is a gRPC call. It does not include grpc-web, which is ordinary HTTP. */
function isGrpc(contentType: string): boolean {
  return contentType.startsWith('application/grpc') && /^application\/grpc(?:$|[+; ])/.test(contentType)
}

const visible = /^[\x21\x22\x24-\x7e\x80-\xff]+$/
const absolute = /^https?:\/\/([^/?#]*)(.*)$/i

/**
 * Returns the target in origin form and the authority. The authority of an absolute target takes precedence
 * over Host (RFC 9112), and the instance gets only one of them.
 */
function splitTarget(received: string, host: string | undefined): { target: string; authority: string } {
  if (!visible.test(received)) throw badRequest('The address is not valid.')
  let target = received
  let authority = host
  if (received.charCodeAt(0) !== 0x2f && received !== '*') {
    const parts = absolute.exec(received)
    if (parts === null) throw badRequest('The address is not valid.')
    authority = parts[1]
    const rest = parts[2] ?? ''
    target = rest.startsWith('/') ? rest : `/${rest}`
  }
  if (authority === undefined) throw badRequest('The request names no Host.')
  return { target, authority }
}

const name = /^[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?\.?(?::\d{1,5})?$/
const ipv6 = /^\[[0-9A-Fa-f:.]{2,45}\](?::\d{1,5})?$/
const maxHostBytes = 260

/** The last few authorities and their hosts: a gateway sees the same ones again and again. */
const seen = new Map<string, string>()
const maxSeen = 4_096

function hostOf(authority: string): string {
  const known = seen.get(authority)
  if (known !== undefined) return known
  if (authority.length > maxHostBytes || !(name.test(authority) || ipv6.test(authority))) {
    throw badRequest('The Host of the request is not valid.')
  }
  const host = authority
    .replace(/:\d{1,5}$/, '')
    .replace(/\.$/, '')
    .toLowerCase()
  if (seen.size >= maxSeen) seen.clear()
  seen.set(authority, host)
  return host
}
