import { tooMuchBandwidth } from './bandwidth-rules.ts'
import { tooFastFlows, tooManyFlows } from './flow-limits.ts'
import type { NetworkBound } from './network.ts'

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
  const { nftables } = JSON.parse(text) as { nftables: readonly NftObject[] }
  const packets = new Map(
    nftables.flatMap(({ counter }) => (counter?.table === table ? [[counter.name, counter.packets]] : [])),
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
