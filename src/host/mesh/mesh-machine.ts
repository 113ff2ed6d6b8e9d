import { isIP } from 'node:net'
import { readHostAndPort } from '../../domain/host-and-port.ts'
import { ipv4Number, networkText, overlap, readNetwork } from '../../domain/host/ipv4-network.ts'
import type { Ipv4Network } from '../../domain/host/ipv4-network.ts'
import type { MeshMachine } from '../../domain/host/mesh.ts'
import { MeshError } from './mesh-error.ts'
import { isPublicKey } from './mesh-key.ts'

/**
 * The most machines of a mesh. WireGuard allows a million; this is twice as many as there are networks of
 * hosts, and stops a list that has no end.
 */
const maxMachines = 2_048
const wholeAddress = 32
/**
 * The most networks of one machine. A host has one of its own, and one for the address of each instance that
 * moved there. `wg` gets them as one argument, which may have 128 KiB; this many have 95.
 */
const maxNetworks = 5_000

/** Throws `MeshError` for the first thing in the list that can not work. */
export function checkMachines(machines: readonly MeshMachine[]): void {
  if (machines.length > maxMachines)
    throw new MeshError(`a mesh has ${maxMachines} machines at most, and ${machines.length} were given`)
  const owners = new Map<string, string>()
  for (const machine of machines) {
    checkMachine(machine)
    for (const unique of [machine.publicKey, ...reachedNetworks(machine)]) {
      const other = owners.get(unique)
      if (other !== undefined)
        throw new MeshError(`${unique} belongs to two machines of the mesh, ${other} and ${machine.address}`)
      owners.set(unique, machine.address)
    }
  }
  checkEndpoints(machines)
}

/** The networks that one reaches at a machine: its own address, and what is behind it. No entry repeats. */
export function reachedNetworks({ address, networks }: MeshMachine): readonly string[] {
  return [...new Set([`${address}/${String(wholeAddress)}`, ...networks])].sort()
}

function checkMachine(machine: MeshMachine): void {
  const { address, publicKey, endpoint, networks } = machine
  if (ipv4Number(address) === undefined)
    throw new MeshError(`'${address}' is not the IPv4 address of a machine in the mesh`)
  if (!isPublicKey(publicKey))
    throw new MeshError(`the public key of ${address} must be 32 bytes in base64, not '${publicKey}'`)
  if (endpoint !== undefined && endpointAddress(endpoint) === undefined) {
    throw new MeshError(
      `the endpoint of ${address} must be an IP address and a port such as 192.0.2.7:51820, not '${endpoint}'`,
    )
  }
  if (networks.length > maxNetworks) {
    throw new MeshError(
      `a machine of the mesh has ${maxNetworks} networks at most, and ${networks.length} were given for ${address}`,
    )
  }
  const wrong = networks.find((network) => readNetwork(network) === undefined)
  if (wrong !== undefined)
    throw new MeshError(`'${wrong}', behind ${address}, is not an IPv4 network such as 10.64.16.0/20`)
}

/** A tunnel can not carry its own packets, so no endpoint may be in a network that the mesh reaches. */
function checkEndpoints(machines: readonly MeshMachine[]): void {
  const networks = machines.flatMap(reachedNetworks).flatMap((text) => readNetwork(text) ?? [])
  // There may be thousands of single addresses, so each endpoint is looked up among them.
  const addresses = new Map(
    networks.filter(({ prefixLength }) => prefixLength === wholeAddress).map((one) => [one.first, one]),
  )
  const wide = networks.filter(({ prefixLength }) => prefixLength !== wholeAddress)
  for (const { address, endpoint } of machines) {
    const first = ipv4Number(endpointAddress(endpoint ?? '') ?? '')
    if (first === undefined) continue
    const inside =
      addresses.get(first) ??
      wide.find((network: Ipv4Network) => overlap(network, { first, prefixLength: wholeAddress }))
    if (inside !== undefined) {
      throw new MeshError(
        `the endpoint ${endpoint ?? ''} of ${address} is in ${networkText(inside)}, which is a network of the mesh itself`,
      )
    }
  }
}

/** The IP address of an endpoint. Undefined if the text is none. */
function endpointAddress(endpoint: string): string | undefined {
  const { host = '', port } = readHostAndPort(endpoint) ?? {}
  return port !== undefined && isIP(host) !== 0 ? host : undefined
}
