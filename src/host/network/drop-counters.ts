import { tooMuchBandwidth } from './bandwidth-rules.ts'
import { tooFastFlows, tooManyFlows } from './flow-limits.ts'
import type { NetworkBound } from './network.ts'
import { nftObjects } from './nft-objects.ts'

const counterOf = {
  flows: tooManyFlows,
  'new-flows': tooFastFlows,
  bandwidth: tooMuchBandwidth,
} as const satisfies Record<NetworkBound, string>

/**
 * How many packets the nftables table of this name has dropped at each bound. The output of
 * `nft -j list counters` is in `text`.
 */
export function parseDropCounters(text: string, table: string): Readonly<Record<NetworkBound, number>> {
  const objects: readonly NftObject[] = nftObjects(text)
  const packets = new Map(
    objects.flatMap(({ counter }) => (counter?.table === table ? [[counter.name, counter.packets]] : [])),
  )
  const droppedFor = (bound: NetworkBound): number => packets.get(counterOf[bound]) ?? 0
  return {
    flows: droppedFor('flows'),
    'new-flows': droppedFor('new-flows'),
    bandwidth: droppedFor('bandwidth'),
  }
}

interface NftObject {
  readonly counter?: { readonly table: string; readonly name: string; readonly packets: number }
}
