import { readdir, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { isImageDigest, isRepositoryName, namespaceOf } from '../../domain/image/reference.ts'
import { digestOfHex } from './storage-layout.ts'
import type { StorageLayout } from './storage-layout.ts'

/** One repository as it is on disk. */
export interface FoundRepository {
  readonly name: string
  /** The digests of the repository's blobs and of its manifests, in two sets. */
  readonly layers: ReadonlySet<string>
  readonly revisions: ReadonlySet<string>
  readonly tags: ReadonlyMap<string, string>
  /** The bytes that each unfinished upload has received so far, by the upload's UUID. */
  readonly uploads: ReadonlyMap<string, number>
  /** The number of files and directories. */
  readonly entries: number
}

/**
 * What all repositories of one user hold together. A blob counts once, even if several repositories have it.
 */
export interface Holdings {
  readonly blobs: ReadonlyMap<string, number>
  readonly uploads: ReadonlyMap<string, number>
  readonly entries: number
}

export interface Inventory {
  readonly repositories: readonly FoundRepository[]
  readonly holdings: ReadonlyMap<string, Holdings>
}

/** The files and directories of `_layers`, `_manifests`, `_uploads` and the directories between. */
const entriesOfRepository = 8
/** The files and directories of one link: a directory and the file `link` in it. */
export const entriesOfLink = 2
/** The files and directories of one tag: `tags/<tag>`, and `current` and `index` in it, each with a link. */
export const entriesOfTag = 8
/** The files and directories of one upload: its directory, `data`, `startedat`, and the digest's state. */
export const entriesOfUpload = 6

/**
 * Reads the whole storage. Files that are deleted while it reads are left out. Files that are created
 * meanwhile may be included or not.
 */
export async function takeInventory(layout: StorageLayout): Promise<Inventory> {
  const repositories: FoundRepository[] = []
  for await (const name of repositoryNames(layout)) repositories.push(await readRepository(layout, name))
  return { repositories, holdings: await holdingsOf(layout, repositories) }
}

/** The size of a blob on disk. Undefined if the blob does not exist. */
export async function blobSize(layout: StorageLayout, digest: string): Promise<number | undefined> {
  return await sizeOf(path.join(layout.blob(digest), 'data'))
}

async function* repositoryNames(layout: StorageLayout, prefix = ''): AsyncGenerator<string> {
  const names = await directoriesIn(prefix === '' ? layout.repositories : layout.repository(prefix))
  // A name consists of parts of the path. No part begins with `_`, which marks the registry's own
  // directories.
  if (isRepositoryName(prefix) && names.some((name) => name.startsWith('_'))) yield prefix
  for (const name of names) {
    if (!name.startsWith('_')) yield* repositoryNames(layout, prefix === '' ? name : `${prefix}/${name}`)
  }
}

async function readRepository(layout: StorageLayout, name: string): Promise<FoundRepository> {
  const within = (...rest: readonly string[]) => path.join(layout.repository(name), ...rest)
  const layers = (await directoriesIn(within('_layers', 'sha256'))).map(digestOfHex)
  const revisions = (await directoriesIn(within('_manifests', 'revisions', 'sha256'))).map(digestOfHex)
  const tags = new Map<string, string>()
  let entries = entriesOfRepository + (layers.length + revisions.length) * entriesOfLink
  for (const tag of await directoriesIn(within('_manifests', 'tags'))) {
    const digest = await readLink(path.join(layout.tag(name, tag), 'current', 'link'))
    if (digest !== undefined) tags.set(tag, digest)
    const past = await directoriesIn(path.join(layout.tag(name, tag), 'index', 'sha256'))
    entries += entriesOfTag + past.length * entriesOfLink
  }
  const uploads = new Map<string, number>()
  for (const uuid of await directoriesIn(within('_uploads'))) {
    uploads.set(uuid, (await sizeOf(path.join(layout.upload(name, uuid), 'data'))) ?? 0)
    const states = await namesIn(path.join(layout.upload(name, uuid), 'hashstates', 'sha256'))
    entries += entriesOfUpload + states.length
  }
  return { name, layers: new Set(layers), revisions: new Set(revisions), tags, uploads, entries }
}

async function holdingsOf(
  layout: StorageLayout,
  repositories: readonly FoundRepository[],
): Promise<ReadonlyMap<string, Holdings>> {
  const sizes = new Map<string, number>()
  const holdings = new Map<
    string,
    { blobs: Map<string, number>; uploads: Map<string, number>; entries: number }
  >()
  for (const repository of repositories) {
    const namespace = namespaceOf(repository.name)
    const held = holdings.get(namespace) ?? { blobs: new Map(), uploads: new Map(), entries: 0 }
    holdings.set(namespace, held)
    held.entries += repository.entries
    for (const [uuid, bytes] of repository.uploads) held.uploads.set(uuid, bytes)
    for (const digest of [...repository.layers, ...repository.revisions]) {
      const size = sizes.get(digest) ?? (await blobSize(layout, digest)) ?? 0
      sizes.set(digest, size)
      held.blobs.set(digest, size)
    }
  }
  return holdings
}

/** The digest in a link file of the registry. Undefined if there is no such file. */
export async function readLink(file: string): Promise<string | undefined> {
  const text = await unlessGone(readFile(file, 'utf8'))
  return text !== undefined && isImageDigest(text.trim()) ? text.trim() : undefined
}

async function sizeOf(file: string): Promise<number | undefined> {
  return (await unlessGone(stat(file)))?.size
}

async function namesIn(directory: string): Promise<readonly string[]> {
  return (await unlessGone(readdir(directory))) ?? []
}

export async function directoriesIn(directory: string): Promise<readonly string[]> {
  const found = (await unlessGone(readdir(directory, { withFileTypes: true }))) ?? []
  return found.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
}

export async function unlessGone<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
      return undefined
    throw error
  }
}
