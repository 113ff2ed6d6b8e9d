import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { unlessGone } from './storage-inventory.ts'
import type { StorageLayout } from './storage-layout.ts'

const digests = /sha256:[0-9a-f]{64}/g
/** The most manifests whose references are remembered. They stay valid, because a manifest never changes. */
const maxRemembered = 20_000

/**
 * Returns every digest that appears anywhere in a manifest or an index. The manifest may need fewer digests,
 * but it never needs one that is not returned.
 */
export function referencesIn(manifest: Buffer): readonly string[] {
  const text = manifest.toString('utf8')
  return [...new Set([...(text.match(digests) ?? []), ...(withoutEscapes(text).match(digests) ?? [])])]
}

/** JSON may write a letter as an escape with its number. */
function withoutEscapes(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text))
  } catch {
    return ''
  }
}

/** Reads what the manifests of the storage need. */
export class ManifestReferences {
  readonly #layout: StorageLayout
  readonly #remembered = new Map<string, readonly string[]>()

  constructor(layout: StorageLayout) {
    this.#layout = layout
  }

  /** Returns the digests that a manifest needs: none if the manifest does not exist any more. */
  async of(digest: string): Promise<readonly string[]> {
    const known = this.#remembered.get(digest)
    if (known !== undefined) return known
    const bytes = await unlessGone(readFile(path.join(this.#layout.blob(digest), 'data')))
    if (bytes === undefined) return []
    const references = referencesIn(bytes)
    if (this.#remembered.size >= maxRemembered) this.#remembered.clear()
    this.#remembered.set(digest, references)
    return references
  }
}
