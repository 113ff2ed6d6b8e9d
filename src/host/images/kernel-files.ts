import { open } from 'node:fs/promises'
import type { ImageLimits } from './image-limits.ts'
import { ImageError } from './images.ts'
import { readLayer } from './layer-content.ts'
import type { LayerBlob } from './layer-content.ts'
import type { Inode, TreeNode } from './layer-tree.ts'
import { findNode } from './merged-entries.ts'
import { TarKind } from './tar-entry.ts'
import { readTar } from './tar-reader.ts'
import type { UnpackBudget } from './unpack-budget.ts'

/** The paths, in an image that brings its own kernel, of the kernel and its initial file system. */
export const kernelPath = ['unikraft', 'bin', 'kernel'] as const
export const initrdPath = ['unikraft', 'bin', 'initrd'] as const

export interface KernelInodes {
  readonly kernel: Inode
  readonly initrd?: Inode
}

/** Returns the kernel and initrd of an image; undefined if the image has no kernel. Throws ImageError. */
export function kernelInodes(root: TreeNode, limits: ImageLimits): KernelInodes | undefined {
  const kernel = regularFile(root, kernelPath, limits.maxKernelBytes)
  if (!kernel) return undefined
  const initrd = regularFile(root, initrdPath, limits.maxInitrdBytes)
  return initrd ? { kernel, initrd } : { kernel }
}

function regularFile(root: TreeNode, path: readonly string[], maxBytes: number): Inode | undefined {
  const inode = findNode(root, path)?.inode
  if (!inode) return undefined
  const name = `/${path.join('/')}`
  if (inode.entry.kind !== TarKind.File)
    throw new ImageError('ImageUnusable', `${name} is not a regular file`)
  if (inode.entry.size > maxBytes) {
    throw new ImageError(
      'ImageUnusable',
      `${name} has ${inode.entry.size} bytes, at most ${maxBytes} are allowed`,
    )
  }
  return inode
}

/** Writes one file of the image to a path that the host chose. */
export async function extractFile(
  inode: Inode,
  target: string,
  source: {
    readonly layers: readonly LayerBlob[]
    readonly budget: UnpackBudget
  },
): Promise<void> {
  const layer = source.layers[inode.layer]
  if (!layer) throw new Error(`layer ${inode.layer} is not there`)
  const file = await open(target, 'wx', 0o644)
  try {
    for await (const member of readTar(readLayer(layer, source.budget))) {
      if (member.ordinal !== inode.ordinal) continue
      for await (const piece of member.content()) await file.writeFile(piece)
      break
    }
    await file.sync()
  } finally {
    await file.close()
  }
}

/** The bytes at the beginning of the file that are read. They hold both magic numbers. */
const headBytes = 0x206
const elfMagic = '7f454c46'
/** The values for 64 bits and for x86-64 in the ELF header. */
const elfClass64 = 2
const elfMachineX86_64 = 62

/**
 * Throws ImageError if the file is neither an x86-64 ELF file nor a Linux bzImage, so that the VMM could not
 * load it.
 */
export async function checkKernel(path: string): Promise<void> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0)
    const isElf =
      bytesRead >= 20 &&
      buffer.toString('hex', 0, 4) === elfMagic &&
      buffer[4] === elfClass64 &&
      buffer.readUInt16LE(18) === elfMachineX86_64
    const isBzImage = buffer.toString('latin1', 0x202, headBytes) === 'HdrS'
    if (isElf || isBzImage) return
  } finally {
    await file.close()
  }
  throw new ImageError(
    'ImageUnusable',
    `/${kernelPath.join('/')} is neither an x86-64 ELF file nor a bzImage`,
  )
}
