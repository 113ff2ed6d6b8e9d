import { ImageError } from '../images/images.ts'
import type { ImageRequest, Images, PreparedImage } from '../images/images.ts'
import { createSharedRuns } from '../images/shared-runs.ts'

export interface FakeImagesOptions {
  /** The nth `prepare` (from 1) fails with this. */
  readonly fail?: { readonly nth: number; readonly failure: ImageError['failure'] }
  /** The root disk of all images. Absent: a path where there is nothing. */
  readonly rootfsPath?: string
  /** Does the pull of each image, once. Without it every image is there already. */
  readonly pull?: (signal: AbortSignal) => Promise<void>
}

/** How long a pull without a waiting caller goes on: longer than any test. */
const unattendedMs = 60_000

/** Fake images for the fake VMM. Every reference is an image without content, whose command is `app`. */
export class FakeImages implements Images {
  readonly #options: FakeImagesOptions
  readonly #pulled = new Set<string>()
  readonly #runs = createSharedRuns<void>({ limit: Number.POSITIVE_INFINITY, unattendedMs })
  #prepares = 0

  constructor(options: FakeImagesOptions = {}) {
    this.#options = options
  }

  async prepare({ reference, userUuid }: ImageRequest, signal?: AbortSignal): Promise<PreparedImage> {
    signal?.throwIfAborted()
    this.#prepares += 1
    const { fail, pull } = this.#options
    if (this.#prepares === fail?.nth) throw new ImageError(fail.failure, 'the image fails as asked')
    const digest = reference.slice(reference.indexOf('@') + 1)
    if (pull !== undefined && !this.#pulled.has(digest)) {
      const wanted = { key: digest, user: userUuid }
      await this.#runs.run(wanted, async (shared) => await this.#pull(digest, pull(shared)), signal)
    }
    return await Promise.resolve({
      kind: 'container',
      digest,
      rootfsPath: this.#options.rootfsPath ?? '/nonexistent',
      entrypoint: [],
      command: ['app'],
      env: [],
      workingDirectory: '/',
      user: '',
      labels: {},
    })
  }

  async isKept(): Promise<boolean> {
    return await Promise.resolve(true)
  }

  async usedBytes(): Promise<ReadonlyMap<string, number>> {
    return await Promise.resolve(new Map<string, number>())
  }

  async collect(): Promise<readonly string[]> {
    return await Promise.resolve([])
  }

  async close(): Promise<void> {
    await this.#runs.close()
  }

  async #pull(digest: string, pulled: Promise<void>): Promise<void> {
    await pulled
    this.#pulled.add(digest)
  }
}
