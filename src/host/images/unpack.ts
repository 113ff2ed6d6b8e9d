import type { ImageLimits } from './image-limits.ts'
import { checkKernel, extractFile, kernelInodes } from './kernel-files.ts'
import type { LayerBlob } from './layer-content.ts'
import { mergeLayers, mergedArchive } from './merge-layers.ts'
import { belongsToSome, mergedEntries, squashfsBytes } from './merged-entries.ts'
import { writeSquashfs } from './squashfs.ts'
import { createUnpackBudget, unpackSeconds } from './unpack-budget.ts'

export const rootfsName = 'rootfs.squashfs'
export const kernelName = 'kernel'
export const initrdName = 'initrd'

export interface UnpackInput {
  readonly layers: readonly LayerBlob[]
  readonly limits: ImageLimits
  readonly sqfstar: string
}

/** The files that were made, by the kind of the image. */
export type Unpacked =
  { readonly kind: 'container' } | { readonly kind: 'kernel'; readonly hasInitrd: boolean }

/**
 * Makes the files that a VM needs from the layers of an image, in the working directory. `admit` is called
 * once, before anything is written, with the bytes that the files can take. Throws LayerError, ImageError,
 * SquashfsError.
 */
export async function unpackImage(
  { layers, limits, sqfstar }: UnpackInput,
  admit: (bytes: number) => Promise<void>,
): Promise<Unpacked> {
  const pulledBytes = layers.reduce((total, layer) => total + layer.size, 0)
  // Makes a budget for one reading. The layers are read twice, once for their names and once for their
  // content, and all bounds hold for each reading.
  const budget = () => createUnpackBudget(limits, pulledBytes)
  const root = await mergeLayers(layers, { limits, budget: budget() })
  const own = kernelInodes(root, limits)
  if (own) {
    await admit(own.kernel.entry.size + (own.initrd?.entry.size ?? 0))
    await extractFile(own.kernel, kernelName, { layers, budget: budget() })
    await checkKernel(kernelName)
    if (own.initrd) await extractFile(own.initrd, initrdName, { layers, budget: budget() })
    return { kind: 'kernel', hasInitrd: own.initrd !== undefined }
  }
  const merged = mergedEntries(root, { layers: layers.length, maxPathsBytes: limits.maxMetadataBytes })
  await admit(squashfsBytes(merged))
  await writeSquashfs(
    mergedArchive(merged, layers, budget()),
    { path: rootfsName, root: root.inode.entry, uses: (id) => belongsToSome(merged, id) },
    { command: sqfstar, cpuSeconds: unpackSeconds(limits, pulledBytes) },
  )
  return { kind: 'container' }
}
