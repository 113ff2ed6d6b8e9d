import { ImageError } from './images.ts'
import type { Images, PreparedImage } from './images.ts'

export interface FakeImagesOptions {
  /** The nth `prepare` (from 1) fails with this. */
  readonly fail?: { readonly nth: number; readonly failure: ImageError['failure'] }
}

/** Every reference is an image without content, whose command is `app`. Goes with the fake VMM. */
export class FakeImages implements Images {
  readonly #options: FakeImagesOptions
  #prepares = 0

  constructor(options: FakeImagesOptions = {}) {
    this.#options = options
  }

  async prepare(reference: string, signal?: AbortSignal): Promise<PreparedImage> {
    signal?.throwIfAborted()
    this.#prepares += 1
    const { fail } = this.#options
    if (this.#prepares === fail?.nth) throw new ImageError(fail.failure, 'the image fails as asked')
    return await Promise.resolve({
      kind: 'container',
      digest: reference.slice(reference.indexOf('@') + 1),
      rootfsPath: '/nonexistent',
      entrypoint: [],
      command: ['app'],
      env: [],
      workingDirectory: '/',
      user: '',
      labels: {},
    })
  }

  async collect(): Promise<readonly string[]> {
    return await Promise.resolve([])
  }
}
