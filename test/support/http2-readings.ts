import type { IncomingMessage } from 'node:http'
import type { Nghttp2Request } from './nghttp2-server.ts'

/** A request as it was read, in the form in which two readings are compared. */
export interface Reading {
  readonly method: string
  readonly target: string
  readonly authority: string
  readonly fields: readonly string[]
  readonly body: string
  readonly trailers: readonly string[]
}

/** Fields that an instance does not get as they came. */
const changed: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'forwarded',
  'host',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-proto',
  'x-request-id',
])
/** Fields that are not passed on in trailers. */
const notInTrailers: ReadonlySet<string> = new Set([
  ...changed,
  'authorization',
  'cache-control',
  'content-encoding',
  'content-range',
  'content-type',
  'cookie',
  'set-cookie',
])

/** What an instance got over HTTP/1.1. */
export function readingOfInstance(request: IncomingMessage, body: string): Reading {
  return {
    method: request.method ?? '',
    target: request.url ?? '',
    authority: request.headers.host ?? '',
    fields: compared(request.rawHeaders, changed),
    body,
    trailers: compared(request.rawTrailers, notInTrailers),
  }
}

export function readingOfNghttp2({ fields, body, trailers }: Nghttp2Request): Reading {
  return {
    // On one of its ways to an instance the gateway writes a method in capital letters.
    method: valueOf(fields, ':method').toUpperCase(),
    target: valueOf(fields, ':path'),
    authority: valueOf(fields, ':authority') || valueOf(fields, 'host'),
    fields: compared(fields, changed),
    body,
    // A body whose length the head tells has no room for trailers in HTTP/1.1.
    trailers: fields.includes('content-length') ? [] : compared(trailers, notInTrailers),
  }
}

/**
 * Whether the request may be complete for an instance: it is then also without the end of its stream, if its
 * head told the length.
 */
export function isWhole({ fields, body, complete }: Nghttp2Request): boolean {
  return complete || valueOf(fields, 'content-length') === String(body.length)
}

function valueOf(fields: readonly string[], name: string): string {
  const at = fields.indexOf(name)
  return at < 0 ? '' : (fields[at + 1] ?? '')
}

/**
 * The fields that are compared. Cookies stand at the end as one field: an instance gets those that are not
 * empty.
 */
function compared(raw: readonly string[], left: ReadonlySet<string>): string[] {
  const fields: string[] = []
  const cookies: string[] = []
  for (let at = 0; at < raw.length; at += 2) {
    const name = (raw[at] ?? '').toLowerCase()
    const value = raw[at + 1] ?? ''
    if (name === 'cookie' && !left.has(name)) cookies.push(value)
    else if (!name.startsWith(':') && !left.has(name)) fields.push(name, value)
  }
  return cookies.length === 0
    ? fields
    : [...fields, 'cookie', cookies.filter((cookie) => cookie !== '').join('; ')]
}
