import { createHash } from 'node:crypto'
import { ipv4Number } from '../../domain/host/ipv4-network.ts'
import {
  firstInstanceIndex,
  hostAddressIndex,
  hostNetwork,
  isHostsAddress,
  lastInstanceIndex,
  privateAddress,
} from '../../domain/host/private-address.ts'

/**
 * The uids of VM processes begin here. Neither people nor containers get uids from here on (systemd leaves
 * 0x70000000 to 0x7fffffff unused). There are 4096 ranges of 65536 uids, and an agent takes one of them by
 * the hash of its directory. So each VM process has a user of its own, even if the host has several agents.
 */
const firstUid = 0x70000000
const uidRanges = 4096
const uidsPerRange = 0x10000

/**
 * How many digits of the hash a name has. Interface names hold 15 characters; ours have 2 letters, 6 digits
 * of the hash and 4 of the address.
 */
const hashDigits = 6

/**
 * The names and addresses of one agent's network. Everything is named after the agent's directory, because
 * several agents may share a host.
 */
export interface AddressPlan {
  readonly hash: string
  readonly bridge: string
  /** The interface by which the host is in the mesh. */
  readonly mesh: string
  readonly table: string
  readonly tapPrefix: string
  readonly subnet: string
  readonly prefixLength: number
  readonly hostAddress: string
}

export class AddressError extends Error {
  override readonly name = 'AddressError'
}

export function planAddresses(options: { readonly directory: string; readonly subnet: string }): AddressPlan {
  const network = hostNetwork(options.subnet)
  if (network === undefined) {
    throw new AddressError(
      `the network of a host's instances must be a /20 such as 10.64.16.0/20, or a /16, not ${options.subnet}`,
    )
  }
  const hash = directoryHash(options.directory)
  return {
    hash,
    bridge: bridgeName(options.directory),
    mesh: meshInterfaceName(options.directory),
    table: `roost_${hash}`,
    tapPrefix: `rt${hash}`,
    subnet: options.subnet,
    prefixLength: network.prefixLength,
    hostAddress: privateAddress(options.subnet, hostAddressIndex),
  }
}

/** The name of the bridge of the agent with this directory. */
export function bridgeName(directory: string): string {
  return `rb${directoryHash(directory)}`
}

/** The name of the interface by which the agent with this directory is in the mesh. */
export function meshInterfaceName(directory: string): string {
  return `rw${directoryHash(directory)}`
}

/** The bridge's MAC address. It is locally administered, and the same at every start. */
export function bridgeMac({ hash }: AddressPlan): string {
  return `02:52:4f:${hash.slice(0, 2)}:${hash.slice(2, 4)}:${hash.slice(4, 6)}`
}

/** The digits that tell what belongs to the agent with this directory from what belongs to other agents. */
export function directoryHash(directory: string): string {
  return createHash('sha256').update(directory).digest('hex').slice(0, hashDigits)
}

/**
 * The index of an instance's address in this host's network. It has 16 bits at most. Throws if the address is
 * not an instance's in this network.
 */
export function hostPart({ subnet }: AddressPlan, ip: string): number {
  const part = (ipv4Number(ip) ?? 0) - (hostNetwork(subnet)?.first ?? 0)
  if (part < firstInstanceIndex || part > lastInstanceIndex(subnet))
    throw new AddressError(`${ip} is not an instance's address in ${subnet}`)
  return part
}

/** An instance's own address, and its seat if the address is of another host's network. */
export interface Seated {
  readonly ip: string
  readonly seat?: string
}

/**
 * The address of this host's network after which the host names what it makes for an instance. Throws if that
 * is no instance's address in this network, or if the instance's own address can be no instance's at all.
 */
export function placeOf(plan: AddressPlan, { ip, seat = ip }: Seated): string {
  hostPart(plan, seat)
  if (seat !== ip && !isHostsAddress(ip)) throw new AddressError(`${ip} is no address of an instance`)
  return seat
}

export function tapName(plan: AddressPlan, nic: Seated): string {
  return plan.tapPrefix + hostPart(plan, placeOf(plan, nic)).toString(16).padStart(4, '0')
}

export function ownerUid(plan: AddressPlan, nic: Seated): number {
  return agentUid(plan) + hostPart(plan, placeOf(plan, nic))
}

/**
 * The first uid of this agent's range. No instance has it. The agent's own helper programs run as this user
 * instead of root.
 */
export function agentUid(plan: AddressPlan): number {
  return firstUid + (Number.parseInt(plan.hash, 16) % uidRanges) * uidsPerRange
}
