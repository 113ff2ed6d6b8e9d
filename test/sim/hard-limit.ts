import type { SimClients } from './client.ts'
import type { Trip } from './flights.ts'
import type { SimHost } from './host.ts'
import type { World } from './world.ts'

/**
 * The rule: An instance has no more in flight than its hard limit, whatever the number of its gateways. What
 * a gateway had in flight when its host gave it up is not counted, and neither is a gateway that told a new
 * agent too late what it has.
 */
export function checkHardLimit(
  { id, kind, gateway, admission }: Trip,
  parts: { readonly clients: SimClients; readonly host: SimHost; readonly world: World },
): void {
  const { clients, host, world } = parts
  const inFlight = clients.underWay.filter(
    (trip) =>
      trip.admission?.memoryBoot === admission?.memoryBoot &&
      trip.gateway.alive &&
      !host.hasGivenUp(trip.gateway.id, trip.admittedMs) &&
      !trip.gateway.metLate,
  ).length
  if (inFlight > gateway.hardLimit)
    world.fail(`${kind} ${id} is one of ${inFlight} in flight, and the hard limit is ${gateway.hardLimit}`)
}
