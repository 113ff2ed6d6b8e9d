import { checkSymlinkTarget, pathComponents } from './layer-path.ts'
import { LayerError, printable, TarKind } from './tar-entry.ts'
import type { TarEntry } from './tar-entry.ts'

/**
 * The file system of an image while its layers are laid over each other, the lowest first: only names and
 * attributes, in memory. Nothing here touches a file system, so a path can lead nowhere but into this tree.
 *
 * A white-out `.wh.<name>` removes what lower layers have under that name; `.wh..wh..opq` removes everything
 * that lower layers have in its directory. Neither removes entries of its own layer, in any order of the
 * entries.
 */
export interface LayerTree {
  /** Begins the next layer above: all entries that follow belong to it. */
  beginLayer(): void
  /** Lays one entry of the current layer over the tree. Throws LayerError. */
  add(entry: TarEntry, ordinal: number): void
  readonly root: TreeNode
}

/** The file to which a name leads. Hard links are several names with the same inode. */
export interface Inode {
  readonly entry: TarEntry
  /** The number of the layer that has the content, and that of the member in the layer's archive. */
  readonly layer: number
  readonly ordinal: number
}

export interface TreeNode {
  inode: Inode
  /** The names in this directory. Only directories have it. */
  readonly children?: Map<string, TreeNode>
  /** The highest layer that has an entry with this name, or below it. */
  layer: number
  /**
   * The layer that last hid everything that lower layers have in this directory. The same layer need not
   * hide it a second time.
   */
  hidBelow?: number
}

export interface LayerTreeLimits {
  /** The most names in the image, and the most entries in all layers. */
  readonly maxEntries: number
  /** The most bytes of names, link targets and extended attributes that are kept in memory. */
  readonly maxMetadataBytes: number
  /**
   * The most directories that are passed on the way to all entries, added up. The names that white-outs look
   * at count too.
   */
  readonly maxPathSteps: number
}

/** The most links that are followed in one path. Linux follows as many. */
const maxSymlinksFollowed = 40
/** The most names that are passed on the way to one entry, with those of links. */
const maxSteps = 4096
/** The greatest depth of directories. By links an archive can make a deeper tree than a path is long. */
const maxDepth = 512
const maxId = 0xffff_ffff
const whiteout = '.wh.'
const opaqueMarker = '.wh..wh..opq'
/** The prefix of names that a storage driver keeps for itself. Layers may still have such names. */
const driverPrefix = '.wh..wh.'

const impliedDirectory: TarEntry = {
  name: '',
  kind: TarKind.Directory,
  mode: 0o755,
  uid: 0,
  gid: 0,
  mtimeSeconds: 0,
  size: 0,
  linkName: '',
  xattrs: new Map(),
}

export function createLayerTree(limits: LayerTreeLimits): LayerTree {
  const budget = createBudget(limits)
  const root = directory(impliedDirectory, 0)
  let layer = -1

  function way(components: readonly string[], missing?: MakeMissing): TreeNode[] | undefined {
    return walk(root, components, { step: budget.countStep, ...(missing && { missing }) })
  }

  /**
   * Returns the directory of a path, following links. It is made if it is missing, and marked as used by
   * this layer.
   */
  function directoryFor(components: readonly string[]): TreeNode {
    const found = way(components, (parent, name) => {
      budget.countNode()
      const made = directory(impliedDirectory, layer)
      parent.children?.set(name, made)
      return made
    })
    if (!found) throw new LayerError(`the directory ${printable(components.join('/'))} can not be resolved`)
    if (found.length > maxDepth)
      throw new LayerError(`the image has directories over ${maxDepth} levels deep`)
    for (const node of found) node.layer = layer
    return found.at(-1) ?? root
  }

  function place(parent: TreeNode, name: string, placed: { entry: TarEntry; ordinal: number }): void {
    const { entry, ordinal } = placed
    const existing = parent.children?.get(name)
    if (entry.kind === TarKind.Directory && existing?.children) {
      existing.inode = { entry, layer, ordinal }
      existing.layer = layer
      return
    }
    // A device of an image is left out, because the guest has its own /dev. But what was under the device's
    // name is removed.
    if (entry.kind === TarKind.Device) parent.children?.delete(name)
    else if (entry.kind === TarKind.HardLink) parent.children?.set(name, { inode: linked(way, entry), layer })
    else parent.children?.set(name, nodeFor({ entry, layer, ordinal }))
  }

  return {
    root,
    beginLayer() {
      layer++
    },
    add(entry, ordinal) {
      budget.countEntry(entry)
      const components = pathComponents(entry.name)
      const name = components.at(-1)
      const parents = components.slice(0, -1)
      if (parents.some((parent) => parent.startsWith(whiteout)) || isDriverBookkeeping(name)) return
      if (name?.startsWith(whiteout) === true)
        return hide(way(parents)?.at(-1), name, { layer, step: budget.countStep })
      checkAttributes(entry)
      if (name !== undefined) return place(directoryFor(parents), name, { entry, ordinal })
      if (entry.kind !== TarKind.Directory) throw new LayerError('the root of the image is not a directory')
      root.inode = { entry, layer, ordinal }
    },
  }
}

function createBudget(limits: LayerTreeLimits) {
  let nodes = 0
  let metadataBytes = 0
  let steps = 0

  function countNode(): void {
    nodes++
    if (nodes > limits.maxEntries)
      throw new LayerError(`the image has more than ${limits.maxEntries} entries`)
  }

  return {
    countNode,
    countStep(): void {
      steps++
      if (steps > limits.maxPathSteps)
        throw new LayerError(`the paths of the image pass more than ${limits.maxPathSteps} directories`)
    },
    countEntry(entry: TarEntry): void {
      countNode()
      metadataBytes += entry.name.length + entry.linkName.length
      for (const [key, value] of entry.xattrs) metadataBytes += key.length + value.length
      if (metadataBytes > limits.maxMetadataBytes) {
        throw new LayerError(`names and attributes of the image are over ${limits.maxMetadataBytes} bytes`)
      }
    },
  }
}

function linked(way: (path: readonly string[]) => TreeNode[] | undefined, entry: TarEntry): Inode {
  const target = pathComponents(entry.linkName)
  const parent = way(target.slice(0, -1))?.at(-1)
  const node = parent?.children?.get(target.at(-1) ?? '')
  if (node && !node.children) return node.inode
  const link = `${printable(entry.name)} is a link to ${printable(entry.linkName)}`
  throw new LayerError(`${link}, which is not a file of the image`)
}

/**
 * The layer of a white-out, and `step`, which counts each name that it looks at: there can be as many
 * white-outs as names.
 */
interface Hiding {
  readonly layer: number
  readonly step: () => void
}

function hide(parent: TreeNode | undefined, marker: string, hiding: Hiding): void {
  if (!parent?.children) return
  if (marker === opaqueMarker) return hideLower(parent, hiding)
  const name = marker.slice(whiteout.length)
  const hidden = parent.children.get(name)
  if (hidden === undefined) return
  if (hidden.layer < hiding.layer) parent.children.delete(name)
  else hideLower(hidden, hiding)
}

function isDriverBookkeeping(name: string | undefined): boolean {
  return name !== undefined && name !== opaqueMarker && name.startsWith(driverPrefix)
}

function checkAttributes(entry: TarEntry): void {
  if (entry.uid > maxId || entry.gid > maxId) {
    throw new LayerError(`the owner of ${printable(entry.name)} is over ${maxId}`)
  }
  if (entry.kind === TarKind.Symlink) checkSymlinkTarget(entry.linkName)
}

function directory(entry: TarEntry, layer: number): TreeNode {
  return { inode: { entry, layer, ordinal: -1 }, children: new Map(), layer }
}

function nodeFor(inode: Inode): TreeNode {
  const isDirectory = inode.entry.kind === TarKind.Directory
  return { inode, layer: inode.layer, ...(isDirectory ? { children: new Map() } : {}) }
}

function hideLower(node: TreeNode, hiding: Hiding): void {
  const { layer, step } = hiding
  if (node.hidBelow === layer) return
  node.hidBelow = layer
  for (const [name, child] of node.children ?? []) {
    step()
    if (child.layer < layer) node.children?.delete(name)
    else hideLower(child, hiding)
  }
}

type MakeMissing = (parent: TreeNode, name: string) => TreeNode

/**
 * The directories along a path, from the root to its last. Symbolic links are followed as in the guest, with
 * the image's root as the root. Undefined if a name is missing or is not a directory, or if links form a
 * loop.
 */
function walk(
  root: TreeNode,
  components: readonly string[],
  { step, missing }: { readonly step: () => void; readonly missing?: MakeMissing },
): TreeNode[] | undefined {
  let trail = [root]
  const ahead = components.toReversed()
  for (let followed = 0, steps = 0; ahead.length > 0; steps++) {
    if (steps > maxSteps) return undefined
    step()
    const name = ahead.pop() ?? ''
    const here = trail.at(-1) ?? root
    if (name === '..') {
      if (trail.length > 1) trail.pop()
      continue
    }
    const node = here.children?.get(name) ?? missing?.(here, name)
    if (!node) return undefined
    if (node.children) {
      trail.push(node)
      continue
    }
    const { kind, linkName } = node.inode.entry
    if (kind !== TarKind.Symlink || ++followed > maxSymlinksFollowed) return undefined
    if (linkName.startsWith('/')) trail = [root]
    for (const part of linkName.split('/').toReversed()) if (part !== '' && part !== '.') ahead.push(part)
  }
  return trail
}
