import { isIPv6 } from 'node:net'

const mapped = '::ffff:'
const groups = 8
const bitsPerGroup = 16

/**
 * The networks of IPv6 that are bounded, widest first. A /64 is what one link has, a /56 what one household
 * is given. A /48 is what one company is given, and what anybody can get for nothing. `times` is the bound
 * of such a network as a multiple of the bound of one source.
 */
const blocks = [
  { bits: 48, times: 16 },
  { bits: 56, times: 4 },
  { bits: 64, times: 1 },
] as const

export interface SourceNetwork {
  readonly name: string
  /** How much the network may use, as a multiple of what one source may use. */
  readonly times: number
}

/**
 * The address without what only this machine adds to it. A socket that accepts IPv4 and IPv6 shows a client
 * of IPv4 as an address of IPv6; this returns the address of IPv4. The scope of a link-local address, such
 * as `%eth0`, is left out.
 */
export function plainAddress(address: string): string {
  if (address.startsWith(mapped) && address.includes('.')) return address.slice(mapped.length)
  const scope = address.indexOf('%')
  return scope === -1 ? address : address.slice(0, scope)
}

/**
 * The networks that an address belongs to, widest first: of IPv4 the address alone, of IPv6 the networks of
 * `blocks`. `address` is as Node gives it.
 */
export function networksOf(address: string): readonly SourceNetwork[] {
  const plain = plainAddress(address)
  if (!isIPv6(plain)) return [{ name: plain, times: 1 }]
  const parts = groupsOf(plain)
  return blocks.map(({ bits, times }) => ({ name: `${prefixOf(parts, bits)}/${bits}`, times }))
}

function groupsOf(address: string): readonly string[] {
  const [head = '', tail] = address.split('::')
  const first = head === '' ? [] : head.split(':')
  const last = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? [] : Array<string>(groups - first.length - last.length).fill('0')
  return [...first, ...zeros, ...last]
}

/** Writes the first `bits` of an address. If the network ends within a group, that group is cut. */
function prefixOf(parts: readonly string[], bits: number): string {
  const whole = Math.floor(bits / bitsPerGroup)
  const cut = bits % bitsPerGroup
  const prefix = parts.slice(0, whole)
  if (cut > 0) prefix.push((parseInt(parts[whole] ?? '0', 16) >> (bitsPerGroup - cut)).toString(16))
  return prefix.join(':')
}
