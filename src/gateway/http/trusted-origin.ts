import { isIP } from 'node:net'
import { plainAddress } from '../clients/source.ts'
import type { TrustsPeer } from '../clients/trusted-proxies.ts'

/**
 * What a trusted proxy says about the origin of a request. Its fields may contain what its own client sent:
 * proxies add to a field, or add a field beside it. So only the last value of a field is certainly the
 * proxy's. Chains of addresses are passed on whole, because each hop can be judged on its own.
 */

type Fields = readonly string[]

/** What the gateway itself knows about the connection. */
export interface OwnOrigin {
  readonly peer: string
  readonly scheme: string
  readonly port: number
  /** The element of `Forwarded` for this connection. */
  readonly element: string
  readonly authority: string
}

/** The largest number of addresses of a chain that are looked at to find the client. */
const maxHops = 64
const schemePattern = /^(?:https?|wss?)$/i
const hostPattern = /^(?:[\w.-]{1,253}|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i
const portPattern = /^\d{1,5}$/
/** Quotes are closed, so that an element that is added does not become part of a quoted text. */
const closedQuotes = /^(?:[^"\\]|"(?:[^"\\]|\\.)*")*$/
const addressPattern = /^(?:\[([\da-f:.]+)\](?::\d+)?|([\d.]+):\d+)$/i

/** Whether the client spoke TLS with the proxy. */
export function saysSecure(fields: Fields): boolean {
  const scheme = lastValue(fields, 'x-forwarded-proto', schemePattern)?.toLowerCase()
  return scheme === 'https' || scheme === 'wss'
}

/**
 * The origin fields of a request from a trusted proxy: its own, and this connection at the end of chains.
 */
export function chainedFields(fields: Fields, own: OwnOrigin): readonly string[] {
  const scheme = lastValue(fields, 'x-forwarded-proto', schemePattern)
  const host = lastValue(fields, 'x-forwarded-host', hostPattern) ?? own.authority
  const port = lastValue(fields, 'x-forwarded-port', portPattern)
  // The port of this connection says nothing about the proxy's.
  const proxyPort = scheme === undefined ? own.port : (portIn(host) ?? usualPort(scheme))
  const forwarded = valuesOf(fields, 'forwarded')
  const isWhole = forwarded.every((value) => closedQuotes.test(value))
  return [
    'X-Forwarded-For',
    [...valuesOf(fields, 'x-forwarded-for'), own.peer].join(', '),
    'X-Forwarded-Proto',
    scheme ?? own.scheme,
    'X-Forwarded-Host',
    host,
    'X-Forwarded-Port',
    port ?? String(proxyPort),
    'Forwarded',
    [...(isWhole ? forwarded : []), own.element].join(', '),
  ]
}

/**
 * The client of a request that `peer`, a trusted proxy, passed on: the last address in `X-Forwarded-For`
 * that is not a trusted proxy's. If something else than an address comes before that, the last proxy counts
 * as the client.
 */
export function clientBehind(peer: string, fields: Fields, trustsPeer: TrustsPeer): string {
  const hops = valuesOf(fields, 'x-forwarded-for').join(',').split(',')
  let client = peer
  for (let index = hops.length - 1; index >= Math.max(0, hops.length - maxHops); index--) {
    const hop = hops[index]?.trim() ?? ''
    const [, ipv6, ipv4] = addressPattern.exec(hop) ?? []
    const address = plainAddress(ipv6 ?? ipv4 ?? hop)
    if (isIP(address) === 0) return client
    client = address
    if (!trustsPeer(address)) return client
  }
  return client
}

/** The last value of the last field of that name; undefined if there is none or if it is malformed. */
function lastValue(fields: Fields, name: string, pattern: RegExp): string | undefined {
  const value = valuesOf(fields, name).at(-1)?.split(',').at(-1)?.trim()
  return value !== undefined && pattern.test(value) ? value : undefined
}

function valuesOf(fields: Fields, name: string): readonly string[] {
  return fields.filter((_, index) => index % 2 === 1 && fields[index - 1]?.toLowerCase() === name)
}

function portIn(host: string): number | undefined {
  const [, port] = /:(\d+)$/.exec(host) ?? []
  return port === undefined ? undefined : Number(port)
}

function usualPort(scheme: string): number {
  return /s$/i.test(scheme) ? 443 : 80
}
