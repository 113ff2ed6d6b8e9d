import { BlockList, isIPv4 } from 'node:net'
import { AddressScope } from '../domain/certificate/attempt-report.ts'

/**
 * Addresses of no host, or of the machine's own link, where metadata services of clouds are. From the
 * registries of RFC 6890; 168.63.129.16 is the one that Azure gives its virtual machines.
 */
const never = listOf(
  '0.0.0.0/8 168.63.129.16/32 169.254.0.0/16 192.0.2.0/24 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 ' +
    '::/96 ::ffff:0:0/96 100::/64 2001::/32 2001:db8::/32 2002::/16 fe80::/10 fec0::/10 ff00::/8',
)

/**
 * The private and local networks. They include the addresses at which a translator of the own network
 * reaches the IPv4 internet, because it is not known where such an address leads.
 */
const internal = listOf(
  '10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 172.16.0.0/12 192.0.0.0/24 192.168.0.0/16 198.18.0.0/15 ' +
    '::1/128 64:ff9b::/96 64:ff9b:1::/48 fc00::/7',
)

/** The scope of an address that DNS gave. */
export function scopeOf(address: string): AddressScope {
  const family = isIPv4(address) ? 'ipv4' : 'ipv6'
  // The loopback's /128 lies in the range of the old IPv4-compatible addresses.
  if (address !== '::1' && never[family].check(address, family)) return AddressScope.Never
  return internal[family].check(address, family) ? AddressScope.Internal : AddressScope.Public
}

/** IPv4 and IPv6 have lists of their own, because Node finds every IPv4 address in `::ffff:0:0/96`, too. */
function listOf(networks: string): Readonly<Record<'ipv4' | 'ipv6', BlockList>> {
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() }
  for (const network of networks.split(' ')) {
    const [address = '', bits] = network.split('/')
    const family = isIPv4(address) ? 'ipv4' : 'ipv6'
    lists[family].addSubnet(address, Number(bits), family)
  }
  return lists
}
