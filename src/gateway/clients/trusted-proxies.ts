import { BlockList, isIPv4 } from 'node:net'
import { plainAddress } from './source.ts'

/** Whether an address, as Node gives it, is that of a trusted proxy. */
export type TrustsPeer = (address: string) => boolean

/**
 * Returns the function that knows the trusted proxies. `networks` are addresses of IPv4 and IPv6, and
 * networks such as `10.1.0.0/16`, as the setting has checked them.
 */
export function trustedProxies(networks: readonly string[]): TrustsPeer {
  if (networks.length === 0) return () => false
  // Node finds addresses of IPv4 in networks of IPv6, too, such as `::/0`. So each has a list of its own.
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() }
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    const family = isIPv4(address) ? 'ipv4' : 'ipv6'
    if (bits === undefined) lists[family].addAddress(address, family)
    else lists[family].addSubnet(address, Number(bits), family)
  }
  return (address) => {
    const plain = plainAddress(address)
    const family = isIPv4(plain) ? 'ipv4' : 'ipv6'
    return lists[family].check(plain, family)
  }
}
