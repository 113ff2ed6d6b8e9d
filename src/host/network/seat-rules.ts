import type { AddressPlan } from './address-plan.ts'

/**
 * Takes an address of another host's network into the filter, as that of an instance of this host, or takes
 * it out again. Instances with such an address reach the outside like those of the host's own network.
 */
export function changeSeat(change: 'add' | 'delete', { table }: AddressPlan, ip: string): string {
  return `${change} element inet ${table} seated { ${ip} }\n`
}

/**
 * The order for `ip -batch` that leads packets for such an address to the bridge. Without it, they would
 * follow the route of the network around the address into the mesh. It also comes before a route of the
 * mesh for this one address (see `tunnelRouteChanges`), which is there until this host hears of the move.
 */
export function seatRoute({ bridge, hostAddress }: AddressPlan, ip: string): string {
  return `route replace ${ip}/32 dev ${bridge} src ${hostAddress}`
}

/** The orders that remove the route, whether or not it is there. */
export function seatRouteEnd(plan: AddressPlan, ip: string): readonly string[] {
  return [seatRoute(plan, ip), `route del ${ip}/32 dev ${plan.bridge}`]
}
