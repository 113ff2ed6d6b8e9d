import { overlap, readNetwork } from '../../domain/host/ipv4-network.ts'
import { networkAround } from '../../domain/host/private-address.ts'
import { bridgeName, meshInterfaceName } from './address-plan.ts'
import type { Commands } from './commands.ts'

/** A network that this host leaves alone, because an interface has an address in it. */
export interface OccupiedSubnet {
  readonly subnet: string
  readonly interfaceName: string
  readonly address: string
}

/** Another interface of the host has an address in the network that its instances should get. */
export class SubnetOccupied extends Error {
  override readonly name = 'SubnetOccupied'
}

const addressLine = /^\d+:\s+([^\s@]+)\S*\s+inet\s+([\d.]+)(?:\s+peer\s+[\d.]+)?(\/\d+)?/

/**
 * The networks of all IPv4 addresses of the host, but of those that the agent with this directory gave it.
 * Instances in such a network would start, but the host would look for them behind the other interface.
 */
export async function occupiedSubnets(
  commands: Commands,
  directory: string,
): Promise<readonly OccupiedSubnet[]> {
  const own = [bridgeName(directory), meshInterfaceName(directory)]
  const lines = (await commands.run(['ip', '-o', '-4', 'addr', 'show'])).split('\n')
  return lines.flatMap((line) => {
    const [, interfaceName = '', address = '', length = '/32'] = addressLine.exec(line) ?? []
    const subnet = networkAround(`${address}${length}`)
    return subnet === undefined || own.includes(interfaceName) ? [] : [{ subnet, interfaceName, address }]
  })
}

/** Throws `SubnetOccupied` if the subnet overlaps one of the occupied ones. */
export function refuseOccupied(subnet: string, occupied: readonly OccupiedSubnet[]): void {
  const network = readNetwork(subnet)
  const found = occupied.find((one) => {
    const other = readNetwork(one.subnet)
    return network !== undefined && other !== undefined && overlap(network, other)
  })
  if (found === undefined) return
  throw new SubnetOccupied(
    `this host's instances have the network ${subnet}, but the interface ${found.interfaceName} of the host has the address ` +
      `${found.address} in ${found.subnet}: no request would reach an instance. Take the address from that interface; or remove ` +
      'this host (`roost admin node remove`) and let it join again: it then gets a network that is free',
  )
}
