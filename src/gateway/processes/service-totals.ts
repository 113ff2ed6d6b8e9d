import type { RouteLine } from '../../domain/service/route-feed.ts'
import { addTraffic, noTraffic } from '../../domain/service/service-traffic.ts'
import type { TrafficAnswer } from '../../domain/service/service-traffic.ts'
import type { RouteTable } from '../route-table.ts'
import type { TrafficOfServices } from '../service-counts.ts'

/**
 * What all serving processes counted of each service since the gateway's start. The processes tell what they
 * counted since they last told it, so a total never falls when one of them ends.
 */
export class ServiceTotals {
  readonly #table: Pick<RouteTable, 'service'>
  readonly #totals = new Map<string, TrafficAnswer['traffic'][string]>()

  constructor(table: Pick<RouteTable, 'service'>) {
    this.#table = table
  }

  /** Requests that end after their service was deleted are not counted: nobody could ask for them. */
  add(counts: TrafficOfServices): void {
    for (const [uuid, counted] of counts) {
      if (this.#table.service(uuid) === undefined) continue
      this.#totals.set(uuid, addTraffic(this.#totals.get(uuid) ?? noTraffic, counted))
    }
  }

  /** Forgets the services that a block of the feed removed. The block was already applied to the table. */
  applied(block: readonly RouteLine[]): void {
    const gone = block.some(
      (line) => (line.kind === 'gone' && line.what === 'service') || (line.kind === 'begin' && line.snapshot),
    )
    if (!gone) return
    for (const uuid of this.#totals.keys()) {
      if (this.#table.service(uuid) === undefined) this.#totals.delete(uuid)
    }
  }

  of(serviceUuids: readonly string[]): TrafficAnswer['traffic'] {
    return Object.fromEntries(
      serviceUuids.flatMap((uuid) => {
        const total = this.#totals.get(uuid)
        return total === undefined ? [] : [[uuid, total]]
      }),
    )
  }
}
