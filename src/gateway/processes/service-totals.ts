import type { RouteLine } from '../../domain/service/route-feed.ts'
import { addTraffic, noTraffic } from '../../domain/service/service-traffic.ts'
import type { TrafficAnswer } from '../../domain/service/service-traffic.ts'
import type { RouteTable } from '../route-table.ts'
import type { TrafficOfServices } from '../service-counts.ts'

type KnownServices = Pick<RouteTable, 'service' | 'hasRollout'>

/**
 * What all serving processes counted of each service since the gateway's start, and of the new version of
 * each rollout since its begin. The processes tell what they counted since they last told it, so a total
 * never falls when one of them ends.
 */
export class ServiceTotals {
  readonly #table: KnownServices
  readonly #totals = new Map<string, TrafficAnswer['traffic'][string]>()

  constructor(table: KnownServices) {
    this.#table = table
  }

  /**
   * Requests that end after their service was deleted, or after their rollout, are not counted for it: nobody
   * could ask for them.
   */
  add(counts: TrafficOfServices): void {
    for (const [uuid, counted] of counts) {
      if (!this.#isKnown(uuid)) continue
      this.#totals.set(uuid, addTraffic(this.#totals.get(uuid) ?? noTraffic, counted))
    }
  }

  /**
   * Forgets the services and rollouts that a block of the feed removed. The block was already applied to the
   * table.
   */
  applied(block: readonly RouteLine[]): void {
    // A rollout goes with a change of its service.
    const gone = block.some(
      (line) =>
        line.kind === 'service' ||
        (line.kind === 'gone' && line.what === 'service') ||
        (line.kind === 'begin' && line.snapshot),
    )
    if (!gone) return
    for (const uuid of this.#totals.keys()) if (!this.#isKnown(uuid)) this.#totals.delete(uuid)
  }

  /** Returns the totals of services and rollouts. */
  of(uuids: readonly string[]): TrafficAnswer['traffic'] {
    return Object.fromEntries(
      uuids.flatMap((uuid) => {
        const total = this.#totals.get(uuid)
        return total === undefined ? [] : [[uuid, total]]
      }),
    )
  }

  #isKnown(uuid: string): boolean {
    return this.#table.service(uuid) !== undefined || this.#table.hasRollout(uuid)
  }
}
