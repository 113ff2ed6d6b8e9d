import { bridgeName, meshInterfaceName, subnetPrefixLength } from './address-plan.ts'
import type { Commands } from './commands.ts'

/** An interface of the host has an address in this /16. */
export interface OccupiedSubnet {
  readonly subnet: string
  readonly interfaceName: string
  readonly address: string
}

/** Another interface of the host has an address in the network that its instances should get. */
export class SubnetOccupied extends Error {
  override readonly name = 'SubnetOccupied'
}

const addressLine = /^\d+:\s+([^\s@]+)\S*\s+inet\s+((\d+)\.(\d+)\.\d+\.\d+)/

/**
 * The /16 of every IPv4 address of the host, but of those that the agent with this directory gave it.
 * Instances in such a network would start, but the host would look for them behind the other interface.
 */
export async function occupiedSubnets(
  commands: Commands,
  directory: string,
): Promise<readonly OccupiedSubnet[]> {
  const own = [bridgeName(directory), meshInterfaceName(directory)]
  const lines = (await commands.run(['ip', '-o', '-4', 'addr', 'show'])).split('\n')
  return lines.flatMap((line) => {
    const [, interfaceName = '', address = '', first = '', second = ''] = addressLine.exec(line) ?? []
    if (address === '' || own.includes(interfaceName)) return []
    return [{ subnet: `${first}.${second}.0.0/${String(subnetPrefixLength)}`, interfaceName, address }]
  })
}

/** Throws `SubnetOccupied` if the subnet is among the occupied ones. */
export function refuseOccupied(subnet: string, occupied: readonly OccupiedSubnet[]): void {
  const found = occupied.find((one) => one.subnet === subnet)
  if (found === undefined) return
  throw new SubnetOccupied(
    `this host's instances have the network ${subnet}, but the interface ${found.interfaceName} of the host has the address ` +
      `${found.address} in it: no request would reach an instance. Take the address from that interface; or remove ` +
      'this host (`roost admin node remove`) and let it join again: it then gets a network that is free',
  )
}
