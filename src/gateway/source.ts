import { isIPv6 } from 'node:net'

const mapped = '::ffff:'
const blockGroups = 4

/**
 * Who shares the limits of one source: an address, or the block of IPv6 that one customer has. `address` is as Node gives it; a scope
 * such as `%eth0` is a name of this machine and stays.
 */
export function sourceOf(address: string): string {
  if (address.startsWith(mapped) && address.includes('.')) return address.slice(mapped.length)
  if (!isIPv6(address)) return address
  const [head = '', tail] = address.split('::')
  const first = head === '' ? [] : head.split(':')
  const last = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? [] : Array<string>(8 - first.length - last.length).fill('0')
  return [...first, ...zeros, ...last].slice(0, blockGroups).join(':')
}
