import type { ImageLimits } from './image-limits.ts'
import { readLayer } from './layer-content.ts'
import type { LayerBlob } from './layer-content.ts'
import { createLayerTree } from './layer-tree.ts'
import type { TreeNode } from './layer-tree.ts'
import type { MergedEntries } from './merged-entries.ts'
import { readTar } from './tar-reader.ts'
import { tarEnd, tarHeader, tarPadding } from './tar-writer.ts'
import type { UnpackBudget } from './unpack-budget.ts'

/** Reads all layers once, lowest first, and returns the names of the image. Throws LayerError. */
export async function mergeLayers(
  layers: readonly LayerBlob[],
  { limits, budget }: { readonly limits: ImageLimits; readonly budget: UnpackBudget },
): Promise<TreeNode> {
  const tree = createLayerTree(limits)
  for (const layer of layers) {
    tree.beginLayer()
    for await (const member of readTar(readLayer(layer, budget))) tree.add(member.entry, member.ordinal)
  }
  return tree.root
}

/**
 * Gives the merged image as one archive. It reads the layers a second time, for the content of the files
 * that remain.
 */
export async function* mergedArchive(
  merged: MergedEntries,
  layers: readonly LayerBlob[],
  budget: UnpackBudget,
): AsyncGenerator<Buffer> {
  for (const entry of merged.plain) yield tarHeader(entry)
  for (const [index, layer] of layers.entries()) {
    const wanted = merged.files[index]
    if (wanted === undefined || wanted.size === 0) continue
    for await (const member of readTar(readLayer(layer, budget))) {
      const entry = wanted.get(member.ordinal)
      if (!entry) continue
      yield tarHeader(entry)
      yield* member.content()
      yield tarPadding(entry.size)
    }
  }
  for (const entry of merged.hardLinks) yield tarHeader(entry)
  yield tarEnd
}
