import { rm, utimes } from 'node:fs/promises'
import path from 'node:path'
import { isImageDigest } from '../../domain/image/reference.ts'
import { RegistryRefusal } from './registry-refusal.ts'
import { directoriesIn, readLink, unlessGone } from './storage-inventory.ts'
import type { StorageLayout } from './storage-layout.ts'

/**
 * Deletes an image by its tag, or by its digest together with every tag that points to it. Only tags are
 * deleted here. The next collection deletes the manifests and layers behind them, whatever their age, unless
 * another image or an instance still needs them.
 */
export class ImageDeletions {
  readonly #layout: StorageLayout
  readonly #onDeleted: () => void

  constructor(layout: StorageLayout, onDeleted: () => void) {
    this.#layout = layout
    this.#onDeleted = onDeleted
  }

  /**
   * The digest to which a tag points now. Undefined if `reference` is a digest, or if there is no such tag.
   */
  async currentOf(repository: string, reference: string): Promise<string | undefined> {
    if (isImageDigest(reference)) return undefined
    return await readLink(path.join(this.#layout.tag(repository, reference), 'current', 'link'))
  }

  /** Returns the digest of what was deleted. Throws `RegistryRefusal` if there is no such image. */
  async delete(repository: string, reference: string): Promise<string> {
    const isDigest = isImageDigest(reference)
    const digest = isDigest ? reference : await this.currentOf(repository, reference)
    const link = digest && (await readLink(path.join(this.#layout.revision(repository, digest), 'link')))
    if (digest === undefined || link === undefined) {
      throw new RegistryRefusal('MANIFEST_UNKNOWN', `there is no image '${reference}' in '${repository}'`)
    }
    const tags = isDigest ? await this.#tagsOf(repository, digest) : [reference]
    for (const tag of tags) await rm(this.#layout.tag(repository, tag), { recursive: true, force: true })
    await this.setWanted(repository, digest, 0)
    this.#onDeleted()
    return digest
  }

  /** Notes when a manifest was last needed, as far as is known. */
  async setWanted(repository: string, digest: string, atMs: number): Promise<void> {
    const at = new Date(atMs)
    await unlessGone(utimes(path.join(this.#layout.revision(repository, digest), 'link'), at, at))
  }

  async #tagsOf(repository: string, digest: string): Promise<readonly string[]> {
    const tags = await directoriesIn(path.join(this.#layout.repository(repository), '_manifests', 'tags'))
    const found: string[] = []
    for (const tag of tags) if ((await this.currentOf(repository, tag)) === digest) found.push(tag)
    return found
  }
}
