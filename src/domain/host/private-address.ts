import { addressCount, ipv4Number, ipv4Text, networkText, overlap, readNetwork } from './ipv4-network.ts'
import type { Ipv4Network } from './ipv4-network.ts'

/**
 * Private IPv4 addresses and MAC addresses of instances. A host that joins gets a /20. Hosts of earlier
 * versions have a /16 and keep it. Index 1 of a host's network is the host itself; instances have those from
 * 2 on; the first and the last address belong to the network.
 */
export const hostAddressIndex = 1
export const firstInstanceIndex = 2

/** The networks of all hosts are in 10.64.0.0/10. It has 1024 networks of a /20. */
const allHosts: Ipv4Network = { first: 0x0a400000, prefixLength: 10 }
const newPrefixLength = 20
const oldPrefixLength = 16
export const hostsNetwork = networkText(allHosts)
export const hostsPrefixLength = allHosts.prefixLength
const subnetCount = 2 ** (newPrefixLength - allHosts.prefixLength)
const subnetSize = 2 ** (32 - newPrefixLength)

/** The network of a host. Undefined if the text is no /16 and no /20. */
export function hostNetwork(subnet: string): Ipv4Network | undefined {
  const network = readNetwork(subnet)
  const isHosts = network?.prefixLength === newPrefixLength || network?.prefixLength === oldPrefixLength
  return isHosts ? network : undefined
}

/** The last index that an instance may have: 4094 in a /20, 65 534 in a /16. Throws a RangeError. */
export function lastInstanceIndex(subnet: string): number {
  return addressCount(requireNetwork(subnet)) - 2
}

/** Whether an address is of a host's network. Throws a RangeError if the network is invalid. */
export function isAddressOf(subnet: string, address: string): boolean {
  const one = readNetwork(`${address}/32`)
  return one !== undefined && overlap(requireNetwork(subnet), one)
}

/** How many instances have an address in a host's network. Throws a RangeError if the network is invalid. */
export function addressesPerSubnet(subnet: string): number {
  return lastInstanceIndex(subnet) - firstInstanceIndex + 1
}

/** The address at `index` of a host's network. Throws a RangeError on an invalid index or network. */
export function privateAddress(subnet: string, index: number): string {
  const { first } = requireNetwork(subnet)
  const last = lastInstanceIndex(subnet)
  if (!Number.isInteger(index) || index < hostAddressIndex || index > last)
    throw new RangeError(`address index ${index} is not in ${hostAddressIndex} to ${last}`)
  return ipv4Text(first + index)
}

/** The `count` indexes of a network from `from` on. After the last index comes the first again. */
export function addressIndexes(subnet: string, from: number, count: number): readonly number[] {
  const all = addressesPerSubnet(subnet)
  const start = Math.max(from, firstInstanceIndex) - firstInstanceIndex
  return Array.from(
    { length: Math.min(count, all) },
    (_, step) => firstInstanceIndex + ((start + step) % all),
  )
}

/** A locally administered address that is as unique as the IP address, so a host needs no table of them. */
export function macAddress(privateIp: string): string {
  const octets = privateIp.split('.').map((octet) => Number(octet).toString(16).padStart(2, '0'))
  return ['12', 'b0', ...octets].join(':')
}

/**
 * The network for a host that joins: `preferred`, or else the next free /20 of 10.64.0.0/10 after it. It
 * overlaps none of the networks in `taken`, which may have any size; texts that are no networks are ignored.
 * Undefined if no network is free. Throws a RangeError if `preferred` is no /16 and no /20.
 */
export function freeSubnet(preferred: string, taken: Iterable<string>): string | undefined {
  const others = [...taken].flatMap((text) => readNetwork(text) ?? [])
  const isFree = (network: Ipv4Network) => !others.some((other) => overlap(network, other))
  const wanted = requireNetwork(preferred)
  if (isFree(wanted)) return networkText(wanted)
  const start = overlap(wanted, allHosts) ? (wanted.first - allHosts.first) / subnetSize : 0
  for (let step = 0; step < subnetCount; step++) {
    const subnet = newSubnet(start + step)
    if (isFree(subnet)) return networkText(subnet)
  }
  return undefined
}

/** One of the networks that a host may get, chosen by a number. Equal numbers give equal networks. */
export function numberedSubnet(number: number): string {
  return networkText(newSubnet(number))
}

/** Whether the text is an IPv4 address in the networks of hosts. */
export function isHostsAddress(text: string): boolean {
  const first = ipv4Number(text)
  return first !== undefined && overlap(allHosts, { first, prefixLength: 32 })
}

/** Whether a network has addresses that a host may get. */
export function isAmongHosts(subnet: string): boolean {
  const network = readNetwork(subnet)
  return network !== undefined && overlap(network, allHosts)
}

/**
 * The network that hosts leave alone because an interface has this address. It is that of the interface, but
 * a /20 if that is smaller. If it is larger than a /16, it is the /16 around the address: a machine in
 * 10.0.0.0/8 could get no network otherwise. Undefined if the text is no address with its network's length.
 */
export function networkAround(address: string): string | undefined {
  const [ip = '', length = ''] = address.split('/')
  const number = readNetwork(`${ip}/32`)?.first
  if (number === undefined || !/^\d{1,2}$/.test(length)) return undefined
  const prefixLength = Math.max(oldPrefixLength, Math.min(newPrefixLength, Number(length)))
  const size = addressCount({ first: 0, prefixLength })
  return networkText({ first: number - (number % size), prefixLength })
}

function newSubnet(number: number): Ipv4Network {
  return { first: allHosts.first + (number % subnetCount) * subnetSize, prefixLength: newPrefixLength }
}

function requireNetwork(subnet: string): Ipv4Network {
  const network = hostNetwork(subnet)
  if (network === undefined) throw new RangeError(`'${subnet}' is not a network a.b.0.0/16 or a.b.c.0/20`)
  return network
}
