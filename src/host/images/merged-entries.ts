import type { TreeNode } from './layer-tree.ts'
import { maxTimeSeconds } from './squashfs-root.ts'
import { LayerError, TarKind } from './tar-entry.ts'
import type { TarEntry } from './tar-entry.ts'

/**
 * A merged tree in the order in which it can be written: first entries without content, then files by layer,
 * then hard links.
 */
export interface MergedEntries {
  /**
   * The entries without content: directories, symbolic links and pipes. A directory comes before what is in
   * it.
   */
  readonly plain: readonly TarEntry[]
  /** The files of each layer, by the ordinal of the member that has the content. */
  readonly files: readonly ReadonlyMap<number, TarEntry>[]
  readonly hardLinks: readonly TarEntry[]
}

/**
 * The most bytes that a squashfs takes for an entry, besides its content, its link's target and its
 * attributes.
 */
const squashfsEntryBytes = 512
/** The size of a file's blocks. The squashfs keeps the length of each block in 4 bytes. */
const squashfsBlockBytes = 128 * 1024
const squashfsFixedBytes = 64 * 1024

/** The most bytes that an uncompressed squashfs of the entries takes on disk. */
export function squashfsBytes(merged: MergedEntries): number {
  let bytes = squashfsFixedBytes
  for (const { size, linkName, xattrs } of allEntries(merged)) {
    bytes += squashfsEntryBytes + linkName.length + size + 4 * Math.ceil(size / squashfsBlockBytes)
    for (const [key, value] of xattrs) bytes += key.length + value.length
  }
  return bytes
}

export function belongsToSome(merged: MergedEntries, id: number): boolean {
  for (const { uid, gid } of allEntries(merged)) if (uid === id || gid === id) return true
  return false
}

function* allEntries({ plain, files, hardLinks }: MergedEntries): Generator<TarEntry> {
  yield* plain
  for (const found of files) yield* found.values()
  yield* hardLinks
}

/**
 * The extended attributes that are kept. Others are left out, because the guest's overlay would take them as
 * its own, or the format can not hold them.
 */
const keptXattrs = /^(?:user\..+|security\.capability)$/

/**
 * Throws LayerError if the paths together have more than `maxPathsBytes`. Links can make them longer than
 * they were in the archives.
 */
export function mergedEntries(
  root: TreeNode,
  { layers, maxPathsBytes }: { readonly layers: number; readonly maxPathsBytes: number },
): MergedEntries {
  let pathsBytes = 0
  const plain: TarEntry[] = []
  const files = Array.from({ length: layers }, () => new Map<number, TarEntry>())
  const hardLinks: TarEntry[] = []
  const firstNames = new Map<object, string>()

  function visit(node: TreeNode, path: string): void {
    pathsBytes += path.length
    if (pathsBytes > maxPathsBytes)
      throw new LayerError(`the paths of the image are over ${maxPathsBytes} bytes`)
    const { entry, layer, ordinal } = node.inode
    const written = { ...entry, ...cleaned(entry), name: path }
    const first = firstNames.get(node.inode)
    if (entry.kind !== TarKind.File) plain.push(written)
    else if (first === undefined) files[layer]?.set(ordinal, written)
    else hardLinks.push({ ...written, kind: TarKind.HardLink, linkName: first, size: 0, xattrs: new Map() })
    if (entry.kind === TarKind.File && first === undefined) firstNames.set(node.inode, path)
    for (const [name, child] of sorted(node)) visit(child, `${path}/${name}`)
  }

  for (const [name, child] of sorted(root)) visit(child, name)
  return { plain, files, hardLinks }
}

/** Sorts the names, so that the same image gives the same bytes in any order of its archives. */
function sorted(node: TreeNode): [string, TreeNode][] {
  return [...(node.children ?? [])].sort(([a], [b]) => (a < b ? -1 : 1))
}

function cleaned(entry: TarEntry): Pick<TarEntry, 'mtimeSeconds' | 'xattrs'> {
  return {
    mtimeSeconds: Math.min(entry.mtimeSeconds, maxTimeSeconds),
    xattrs: new Map([...entry.xattrs].filter(([key]) => keptXattrs.test(key))),
  }
}

/** Returns the inode of a path without following links. Undefined if there is none. */
export function findNode(root: TreeNode, components: readonly string[]): TreeNode | undefined {
  let node: TreeNode | undefined = root
  for (const name of components) node = node?.children?.get(name)
  return node
}
