import { readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import path from 'node:path'
import { namespaceOf } from '../../domain/image/reference.ts'
import type { DigestGuard } from './digest-guard.ts'
import type { ManifestReferences } from './manifest-references.ts'
import { directoriesIn, unlessGone } from './storage-inventory.ts'
import type { FoundRepository, Inventory } from './storage-inventory.ts'
import { digestOfHex } from './storage-layout.ts'
import type { StorageLayout } from './storage-layout.ts'

/** How old unneeded things have to be before they are deleted. */
export interface CollectionAges {
  /** The age for blobs without a manifest and for manifests without a tag. A push writes the tag last. */
  readonly unreachedMs: number
  /** The age for uploads that were never finished. */
  readonly uploadMs: number
}

export interface CollectionDeps {
  readonly layout: StorageLayout
  readonly guard: DigestGuard
  readonly references: ManifestReferences
  /**
   * How long a manifest is hidden before it is deleted. That is longer than the creation of an instance
   * takes.
   */
  readonly leavingMs: number
  readonly ages: (user: string) => CollectionAges
  readonly isActive: (repository: string, upload: string) => boolean
  readonly nowMs: () => number
}

/**
 * The name that a revision's file `link` gets while the revision is hidden. The registry looks only for
 * `link`. A hidden revision is about to be deleted.
 */
const leavingName = 'leaving'

/**
 * Deletes what nothing needs: uploads that nobody finished; manifests that no tag, no index and no instance
 * refers to (`inUse` has those of instances, as `<repository>@<digest>`); layers that no manifest of their
 * repository needs; and blobs that no repository has.
 *
 * One call deletes one level of this: what only a deleted manifest needed is deleted with the next
 * inventory. So everything that a manifest needs exists for as long as the manifest, even if a push tags the
 * manifest meanwhile. Returns whether anything was deleted.
 */
export async function collect(
  deps: CollectionDeps,
  inventory: Inventory,
  inUse: ReadonlySet<string>,
): Promise<boolean> {
  let deleted = 0
  const linked = new Set<string>()
  for (const repository of inventory.repositories) {
    const one = new RepositoryCollection(deps, repository)
    deleted += await one.collect(inUse)
    for (const digest of one.left) linked.add(digest)
  }
  // If no repository is found, this is not the storage that was here before, and it is not known which blobs
  // are needed.
  if (inventory.repositories.length > 0) deleted += await collectBlobs(deps, linked)
  return deleted > 0
}

class RepositoryCollection {
  readonly #deps: CollectionDeps
  readonly #found: FoundRepository
  readonly #ages: CollectionAges
  /** The digests of the blobs that the repository still has. */
  readonly left: Set<string>

  constructor(deps: CollectionDeps, found: FoundRepository) {
    this.#deps = deps
    this.#found = found
    this.#ages = deps.ages(namespaceOf(found.name))
    this.left = new Set([...found.layers, ...found.revisions])
  }

  async collect(inUse: ReadonlySet<string>): Promise<number> {
    const uploads = await this.#collectUploads()
    const layers = await this.#collectLayers()
    const revisions = await this.#collectRevisions(inUse)
    await this.#forgetPastTags()
    return uploads + layers + revisions
  }

  async #collectUploads(): Promise<number> {
    const { layout, isActive } = this.#deps
    const { name, uploads } = this.#found
    let deleted = 0
    for (const uuid of uploads.keys()) {
      const directory = layout.upload(name, uuid)
      const writtenMs = Math.max(await changedMs(directory), await changedMs(path.join(directory, 'data')))
      if (!this.#isOld(writtenMs, this.#ages.uploadMs) || isActive(name, uuid)) continue
      if (await removeTree(directory)) deleted++
    }
    return deleted
  }

  /**
   * Deletes unneeded layers. The layers of every manifest in the inventory stay, even if that manifest goes
   * now.
   */
  async #collectLayers(): Promise<number> {
    const { layout, references } = this.#deps
    const needed = new Set<string>()
    for (const digest of this.#found.revisions) {
      for (const reference of await references.of(digest)) needed.add(reference)
    }
    let deleted = 0
    for (const digest of this.#found.layers) {
      if (needed.has(digest)) continue
      const directory = layout.layer(this.#found.name, digest)
      if (!this.#isOld(await changedMs(path.join(directory, 'link')), this.#ages.unreachedMs)) continue
      deleted += await this.#remove(digest, directory)
    }
    return deleted
  }

  async #collectRevisions(inUse: ReadonlySet<string>): Promise<number> {
    const { layout, guard } = this.#deps
    const { name } = this.#found
    const kept = await this.#keptRevisions(inUse)
    let deleted = 0
    for (const digest of this.#found.revisions) {
      const link = path.join(layout.revision(name, digest), 'link')
      const leaving = path.join(layout.revision(name, digest), leavingName)
      const leavingSinceMs = await changedMs(leaving)
      if (kept.has(digest)) {
        if (leavingSinceMs > 0) await this.#restore(digest, { link, leaving })
      } else if (leavingSinceMs === 0) {
        const leave = async () => {
          await unlessGone(rename(link, leaving))
          const now = new Date(this.#deps.nowMs())
          await unlessGone(utimes(leaving, now, now))
        }
        if (await guard.delete(digest, leave)) deleted++
      } else if (this.#isOld(leavingSinceMs, this.#deps.leavingMs)) {
        await this.#releaseLayers(digest, leavingSinceMs)
        deleted += await this.#remove(digest, layout.revision(name, digest))
      }
    }
    return deleted
  }

  /**
   * The manifests to which tags and instances lead, the young ones, and those that the indexes among these
   * name.
   */
  async #keptRevisions(inUse: ReadonlySet<string>): Promise<ReadonlySet<string>> {
    const { layout, guard, references } = this.#deps
    const { name, revisions, tags } = this.#found
    const kept = new Set<string>()
    const tagged = new Set(tags.values())
    const next: string[] = []
    for (const digest of revisions) {
      const writtenMs = await changedMs(path.join(layout.revision(name, digest), 'link'))
      const isYoung = writtenMs > 0 && !this.#isOld(writtenMs, this.#ages.unreachedMs)
      if (tagged.has(digest) || inUse.has(`${name}@${digest}`) || guard.isNamed(digest) || isYoung)
        next.push(digest)
    }
    for (let digest = next.pop(); digest !== undefined; digest = next.pop()) {
      if (kept.has(digest)) continue
      kept.add(digest)
      for (const reference of await references.of(digest)) if (revisions.has(reference)) next.push(reference)
    }
    return kept
  }

  /** Shows a hidden manifest again, because something needs it after all or a push has brought it again. */
  async #restore(digest: string, files: { readonly link: string; readonly leaving: string }): Promise<void> {
    const release = await this.#deps.guard.hold([digest])
    try {
      if ((await changedMs(files.link)) > 0) await rm(files.leaving, { force: true })
      else await unlessGone(rename(files.leaving, files.link))
    } finally {
      release()
    }
  }

  /**
   * Makes the layers of a deleted manifest old at once. The age of a layer protects a push that is under
   * way, but these layers were part of an image, so there is nothing to wait for.
   */
  async #releaseLayers(digest: string, leavingSinceMs: number): Promise<void> {
    for (const layer of await this.#deps.references.of(digest)) {
      const link = path.join(this.#deps.layout.layer(this.#found.name, layer), 'link')
      const wantedMs = await changedMs(link)
      if (wantedMs > 0 && wantedMs < leavingSinceMs) await unlessGone(utimes(link, 0, 0))
    }
  }

  /**
   * Deletes the records of digests to which tags pointed before. A tag keeps these records, but nobody reads
   * them.
   */
  async #forgetPastTags(): Promise<void> {
    for (const [tag, current] of this.#found.tags) {
      const directory = path.join(this.#deps.layout.tag(this.#found.name, tag), 'index', 'sha256')
      for (const hex of await directoriesIn(directory)) {
        const past = path.join(directory, hex)
        if (digestOfHex(hex) === current || !this.#isOld(await changedMs(past), this.#ages.uploadMs)) continue
        await removeTree(past)
      }
    }
  }

  async #remove(digest: string, directory: string): Promise<number> {
    const done = await this.#deps.guard.delete(digest, async () => void (await removeTree(directory)))
    if (!done) return 0
    const { layers, revisions } = this.#found
    // A digest may be among the layers and among the manifests. The next inventory shows whether one of them
    // is left.
    if (!(layers.has(digest) && revisions.has(digest))) this.left.delete(digest)
    return 1
  }

  #isOld(sinceMs: number, ageMs: number): boolean {
    return this.#deps.nowMs() - sinceMs >= ageMs
  }
}

/**
 * Deletes blobs that no repository has. If a push brings such a blob at this moment, its digest is held in
 * the guard, and the blob stays.
 */
async function collectBlobs(deps: CollectionDeps, linked: ReadonlySet<string>): Promise<number> {
  const { layout, guard } = deps
  let deleted = 0
  for (const fanOut of await directoriesIn(layout.blobs)) {
    for (const hex of (await unlessGone(readdir(path.join(layout.blobs, fanOut)))) ?? []) {
      const digest = digestOfHex(hex)
      if (linked.has(digest)) continue
      const remove = async () => void (await removeTree(layout.blob(digest)))
      if (await guard.delete(digest, remove)) deleted++
    }
  }
  return deleted
}

/** When a file was last written or last needed; 0 if it does not exist. */
async function changedMs(file: string): Promise<number> {
  return Math.floor((await unlessGone(stat(file)))?.mtimeMs ?? 0)
}

const removeTries = 3

/** Returns false if the registry writes there at this moment; the next collection tries again. */
async function removeTree(directory: string): Promise<boolean> {
  try {
    await rm(directory, { recursive: true, force: true, maxRetries: removeTries })
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOTEMPTY') return false
    throw error
  }
}
