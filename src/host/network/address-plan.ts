import { createHash } from 'node:crypto'

/** The prefix length of a host's network. The last 16 bits of an address name an instance on this host. */
export const subnetPrefixLength = 16

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
  /** The interface of the mesh. It exists if the installation has several machines. */
  readonly mesh: string
  readonly table: string
  readonly tapPrefix: string
  readonly subnet: string
  readonly hostAddress: string
}

export class AddressError extends Error {
  override readonly name = 'AddressError'
}

export function planAddresses(options: { readonly directory: string; readonly subnet: string }): AddressPlan {
  const [address = '', length] = options.subnet.split('/')
  const bits = addressBits(address)
  if (Number(length) !== subnetPrefixLength || (bits & 0xffff) !== 0) {
    throw new AddressError(
      `the network of a host's instances must be a /16 such as 10.64.0.0/16, not ${options.subnet}`,
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
    hostAddress: formatAddress(bits + 1),
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

/** The last 16 bits of an instance's address. Throws if the address is not in this host's network. */
export function hostPart(plan: AddressPlan, ip: string): number {
  const bits = addressBits(ip)
  const network = addressBits(plan.subnet.split('/')[0] ?? '')
  const part = bits - network
  if (part < 2 || part > 0xfffe)
    throw new AddressError(`${ip} is not an instance's address in ${plan.subnet}`)
  return part
}

export function tapName(plan: AddressPlan, ip: string): string {
  return plan.tapPrefix + hostPart(plan, ip).toString(16).padStart(4, '0')
}

export function ownerUid(plan: AddressPlan, ip: string): number {
  return agentUid(plan) + hostPart(plan, ip)
}

/**
 * The first uid of this agent's range. No instance has it. The agent's own helper programs run as this user
 * instead of root.
 */
export function agentUid(plan: AddressPlan): number {
  return firstUid + (Number.parseInt(plan.hash, 16) % uidRanges) * uidsPerRange
}

function addressBits(address: string): number {
  const parts = address.split('.')
  const numbers = parts.map(Number)
  const valid = parts.length === 4 && parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) < 256)
  if (!valid) throw new AddressError(`'${address}' is not an IPv4 address`)
  return numbers.reduce((bits, part) => bits * 256 + part, 0)
}

function formatAddress(bits: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(bits / 2 ** shift) % 256).join('.')
}
