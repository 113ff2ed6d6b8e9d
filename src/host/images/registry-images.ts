import { access, statfs } from 'node:fs/promises'
import { parseImageReference } from '../../domain/image-reference.ts'
import { MalformedImageError } from '../../registry/oci-manifest.ts'
import type { RegistryClient } from '../../registry/registry-client.ts'
import { RegistryError } from '../../registry/registry-error.ts'
import { defaultImageLimits } from './image-limits.ts'
import type { ImageLimits } from './image-limits.ts'
import { openImageStore } from './image-store.ts'
import type { ImageStore } from './image-store.ts'
import { ImageError } from './images.ts'
import type { Images, PreparedImage } from './images.ts'
import { makeImage } from './make-image.ts'
import { createSharedRuns } from './shared-runs.ts'
import { LayerError } from './tar-entry.ts'

export interface RegistryImagesOptions {
  /** `<agent directory>/images`; this process alone may use it. */
  readonly directory: string
  readonly client: RegistryClient
  readonly limits?: Partial<ImageLimits>
  readonly nowMs?: () => number
  /** The program that writes a squashfs from an archive. */
  readonly sqfstar?: string
}

/** An image that nobody uses is kept for this long, because what stopped is often started again. */
const unusedKeptMs = 3_600_000
/** The same when the store is nearly full; longer than between a `prepare` and the start that asked for it. */
const unusedKeptWhenFullMs = 120_000
const nearlyFull = 0.8
/** Left to the rest of the host. */
const minFreeBytes = 256 * 1024 * 1024

/** Images of a registry, in a directory of this host. Opening it deletes what an earlier process left unfinished. */
export async function openRegistryImages(options: RegistryImagesOptions): Promise<Images> {
  const limits = { ...defaultImageLimits, ...options.limits }
  const nowMs = options.nowMs ?? Date.now
  const store = await openImageStore(options.directory, nowMs)
  const { maxConcurrent: limit, unattendedMs } = limits
  const runs = createSharedRuns<PreparedImage>({ limit, unattendedMs })
  /** Digests that are asked for right now, and those that are being deleted: neither may become the other. */
  const asked = new Map<string, number>()
  const removing = new Map<string, Promise<void>>()

  async function make(repository: string, digest: string, signal: AbortSignal): Promise<PreparedImage> {
    await refuseWhenFull(store, options.directory, limits)
    const directory = await store.begin(digest)
    try {
      const image = await makeImage({
        repository,
        digest,
        directory,
        fileOf: (name) => store.fileOf(digest, name),
        client: options.client,
        limits,
        sqfstar: options.sqfstar ?? 'sqfstar',
        signal,
      })
      signal.throwIfAborted()
      await store.publish(directory, image)
      return image
    } catch (error) {
      const full = await isFull(options.directory)
      await store.discard(directory)
      signal.throwIfAborted()
      throw full ? hostFull(error) : asImageError(error)
    }
  }

  return {
    async prepare(text, signal) {
      signal?.throwIfAborted()
      const reference = parseImageReference(text)
      if (reference?.digest === undefined) {
        throw new ImageError('ImageUnusable', `'${text}' does not name an image by its digest`)
      }
      const { repository, digest } = reference
      asked.set(digest, (asked.get(digest) ?? 0) + 1)
      try {
        await removing.get(digest)
        const ready = await store.find(digest)
        if (ready) return ready
        return await runs.run(digest, (shared) => make(repository, digest, shared), signal)
      } finally {
        const others = (asked.get(digest) ?? 1) - 1
        if (others > 0) asked.set(digest, others)
        else asked.delete(digest)
      }
    },
    isKept,
    async collect(inUse) {
      const images = await store.list()
      const bytes = images.reduce((total, image) => total + image.bytes, 0)
      const keptMs = bytes > limits.maxStoreBytes * nearlyFull ? unusedKeptWhenFullMs : unusedKeptMs
      const removed: string[] = []
      for (const { digest, lastUsedMs } of images) {
        if (inUse.has(digest) || asked.has(digest) || nowMs() - lastUsedMs <= keptMs) continue
        const removal = store.remove(digest).finally(() => removing.delete(digest))
        removing.set(digest, removal)
        await removal
        removed.push(digest)
      }
      return removed
    },
    close: async () => await runs.close(),
  }
}

async function isKept(image: PreparedImage): Promise<boolean> {
  const file = image.kind === 'container' ? image.rootfsPath : image.kernelPath
  return await access(file).then(
    () => true,
    () => false,
  )
}

async function refuseWhenFull(store: ImageStore, directory: string, limits: ImageLimits): Promise<void> {
  const bytes = (await store.list()).reduce((total, image) => total + image.bytes, 0)
  if (bytes > limits.maxStoreBytes) {
    throw new ImageError(
      'HostFull',
      `images occupy ${bytes} bytes of this host, over ${limits.maxStoreBytes}`,
    )
  }
  if (await isFull(directory)) throw hostFull()
}

async function isFull(directory: string): Promise<boolean> {
  const disk = await statfs(directory)
  return disk.bavail * disk.bsize < minFreeBytes
}

function hostFull(cause?: unknown): ImageError {
  const message = `less than ${minFreeBytes} bytes are free where this host keeps images`
  return new ImageError('HostFull', message, { cause })
}

function asImageError(error: unknown): unknown {
  if (error instanceof RegistryError) {
    return new ImageError('ImageUnavailable', error.message, { cause: error })
  }
  if (error instanceof MalformedImageError || error instanceof LayerError) {
    return new ImageError('ImageUnusable', error.message, { cause: error })
  }
  return error
}
