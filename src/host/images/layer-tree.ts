import { checkSymlinkTarget, pathComponents } from './layer-path.ts'
import { LayerError, printable, TarKind } from './tar-entry.ts'
import type { TarEntry } from './tar-entry.ts'

/**
 * The file system of an image while its layers are laid over each other, lowest first: names and attributes
 * only, in memory. Nothing here touches a file system, so a path can lead nowhere but into this tree.
 *
 * A white-out `.wh.<name>` removes what lower layers have under that name, `.wh..wh..opq` everything that
 * lower layers have in its directory; neither touches what its own layer brings, in whatever order the
 * entries come.
 */
export interface LayerTree {
  /** What follows belongs to the next layer above. */
  beginLayer(): void
  /** Lays one entry of the current layer over what is there. Throws LayerError. */
  add(entry: TarEntry, ordinal: number): void
  readonly root: TreeNode
}

/** What a name stands for. Hard links are several names with the same inode. */
export interface Inode {
  readonly entry: TarEntry
  /** Where the content is: the layer, and the member of its archive. */
  readonly layer: number
  readonly ordinal: number
}

export interface TreeNode {
  inode: Inode
  /** Present in directories. */
  readonly children?: Map<string, TreeNode>
  /** The highest layer that has this name or something below it. */
  layer: number
  /**
   * The layer that last hid everything which lower ones have in this directory: to do so again would find
   * nothing.
   */
  hidBelow?: number
}

export interface LayerTreeLimits {
  /** Names in the image, and entries in all layers. */
  readonly maxEntries: number
  /** Names, link targets and extended attributes in memory. */
  readonly maxMetadataBytes: number
  /** Directories passed on the way to all entries together, and names looked at by white-outs. */
  readonly maxPathSteps: number
}

/** As many links as Linux follows in one path. */
const maxSymlinksFollowed = 40
/** Names passed on the way to one entry, those of links included. */
const maxSteps = 4096
/** Directories within directories; links can lead an archive deeper than a path is long. */
const maxDepth = 512
const maxId = 0xffff_ffff
const whiteout = '.wh.'
const opaqueMarker = '.wh..wh..opq'
/** Bookkeeping of a storage driver that layers may still carry. */
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
   * The directory that a path means, through links; made where it is missing, and marked as used by this
   * layer.
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
    // Devices of the host mean nothing in the guest, which has its own /dev; only what they replace goes.
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

/** Names that are looked at on the way count as steps: markers can be as many as names. */
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
 * The directories along a path, from the root to the one it means. Symbolic links are followed as the guest
 * would, with the image's root as the root. Undefined where something is missing, not a directory, or loops.
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
