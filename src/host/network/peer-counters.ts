import { nftObjects } from './nft-objects.ts'

/**
 * Packets per TAP, from the output of `nft -j list set`. Every element is a TAP's name and a MAC, with a
 * counter.
 */
export function parsePeerCounters(text: string): ReadonlyMap<string, number> {
  const objects: readonly NftObject[] = nftObjects(text)
  const elements = objects.flatMap((object) => object.set?.elem ?? [])
  return new Map(elements.map(({ elem }) => [elem.val.concat[0] ?? '', elem.counter.packets]))
}

interface NftObject {
  readonly set?: { readonly elem?: readonly NftElement[] }
}

interface NftElement {
  readonly elem: {
    readonly val: { readonly concat: readonly string[] }
    readonly counter: { readonly packets: number }
  }
}
