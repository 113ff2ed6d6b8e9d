import path from 'node:path'

/**
 * The places where distribution 2.8 stores its data. A blob is stored once for all repositories, in `blobs`.
 * A repository has a blob if it has a small file `link` for it under `_layers`, or under
 * `_manifests/revisions` if the blob is a manifest. `tags/<tag>/current/link` holds the digest of the
 * manifest that a tag names.
 */
export interface StorageLayout {
  readonly repositories: string
  readonly blobs: string
  repository(name: string): string
  /** The directory of a blob; its bytes are the file `data` in it. */
  blob(digest: string): string
  layer(repository: string, digest: string): string
  revision(repository: string, digest: string): string
  tag(repository: string, tag: string): string
  upload(repository: string, uuid: string): string
}

const algorithm = 'sha256'
/** The number of hexadecimal digits that name the directory above a blob: the first byte of its digest. */
const fanOutDigits = 2

export function storageLayout(directory: string): StorageLayout {
  const base = path.join(directory, 'docker', 'registry', 'v2')
  const repositories = path.join(base, 'repositories')
  const blobs = path.join(base, 'blobs', algorithm)
  const within = (name: string, ...rest: readonly string[]) => path.join(repositories, name, ...rest)
  return {
    repositories,
    blobs,
    repository: (name) => within(name),
    blob: (digest) => path.join(blobs, hexOf(digest).slice(0, fanOutDigits), hexOf(digest)),
    layer: (name, digest) => within(name, '_layers', algorithm, hexOf(digest)),
    revision: (name, digest) => within(name, '_manifests', 'revisions', algorithm, hexOf(digest)),
    tag: (name, tag) => within(name, '_manifests', 'tags', tag),
    upload: (name, uuid) => within(name, '_uploads', uuid),
  }
}

export function digestOfHex(hex: string): string {
  return `${algorithm}:${hex}`
}

function hexOf(digest: string): string {
  return digest.slice(algorithm.length + 1)
}
