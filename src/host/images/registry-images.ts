import { access } from 'node:fs/promises'
import { parseImageReference } from '../../domain/image/reference.ts'
import { MalformedImageError } from '../../registry/oci-manifest.ts'
import type { RegistryClient } from '../../registry/registry-client.ts'
import { RegistryError } from '../../registry/registry-error.ts'
import type { DiskRoom } from '../disk-room.ts'
import { defaultImageLimits } from './image-limits.ts'
import type { ImageLimits } from './image-limits.ts'
import { officialHolder, openImageStore } from './image-store.ts'
import type { ImageStore } from './image-store.ts'
import { ImageError } from './images.ts'
import type { ImageRequest, Images, ImageUse, PreparedImage } from './images.ts'
import { makeImage } from './make-image.ts'
import { createSharedRuns } from './shared-runs.ts'
import type { SharedRuns } from './shared-runs.ts'
import { StoreRoom } from './store-room.ts'
import type { Charge } from './store-room.ts'
import { LayerError } from './tar-entry.ts'
import { unpackSeconds } from './unpack-budget.ts'
import { Unpackers } from './unpackers.ts'

export interface RegistryImagesOptions {
  /** The directory of the images, `<agent directory>/images`. Only this process may use it. */
  readonly directory: string
  readonly client: RegistryClient
  readonly limits?: Partial<ImageLimits>
  /** Keeps account of the room that is left on the host's disk. */
  readonly disk: DiskRoom
  /** Returns the images of instances that run, sleep or are being started. They are not deleted. */
  readonly pinned: () => readonly ImageUse[]
  readonly nowMs?: () => number
  /** The program that writes a squashfs from an archive. */
  readonly sqfstar?: string
  /** The script that unpacks an image, in a process of its own. */
  readonly unpackProgram: string
  readonly onProblem?: (message: string) => void
}

const officialPrefix = 'official/'
/** How long an image that nobody uses is kept. A stopped instance is often started again. */
const unusedKeptMs = 3_600_000
/**
 * How long such an image is kept when the store is nearly full. It is longer than the time between a
 * `prepare` and the start that asked for it.
 */
const unusedKeptWhenFullMs = 120_000
const nearlyFull = 0.8

interface Wanted {
  readonly repository: string
  readonly digest: string
  readonly charge: Charge
}

/**
 * Opens the images of a registry, in a directory of this host. This deletes what an earlier process left
 * unfinished.
 */
export async function openRegistryImages(options: RegistryImagesOptions): Promise<Images> {
  return new RegistryImages(options, await openImageStore(options.directory, options.nowMs ?? Date.now))
}

class RegistryImages implements Images {
  readonly #options: RegistryImagesOptions
  readonly #limits: ImageLimits
  readonly #store: ImageStore
  readonly #runs: SharedRuns<PreparedImage>
  readonly #unpackers: Unpackers
  readonly #room: StoreRoom
  /** The digests that callers ask for now, with the number of callers. Their images are not deleted. */
  readonly #asked = new Map<string, number>()
  /** The deletions under way, by digest. A caller that asks for such a digest waits for the deletion. */
  readonly #removing = new Map<string, Promise<void>>()

  constructor(options: RegistryImagesOptions, store: ImageStore) {
    this.#options = options
    this.#limits = { ...defaultImageLimits, ...options.limits }
    this.#store = store
    const { maxConcurrent: limit, unattendedMs, maxUnpackedBytes, maxPulledBytes } = this.#limits
    this.#runs = createSharedRuns<PreparedImage>({ limit, unattendedMs })
    this.#unpackers = new Unpackers({
      program: options.unpackProgram,
      maxFileBytes: 2 * maxUnpackedBytes,
      // The process may use this much processor time, because it reads the layers twice, and each reading
      // may take `unpackSeconds`.
      maxCpuSeconds: 2 * unpackSeconds(this.#limits, maxPulledBytes),
      onProblem: options.onProblem ?? (() => undefined),
    })
    this.#room = new StoreRoom({
      store,
      directory: options.directory,
      disk: options.disk,
      limits: this.#limits,
      pinned: options.pinned,
      isAsked: (digest) => this.#asked.has(digest),
      remove: async (digest) => await this.#remove(digest),
    })
  }

  async prepare(
    { reference: text, userUuid, quotaBytes }: ImageRequest,
    signal?: AbortSignal,
  ): Promise<PreparedImage> {
    signal?.throwIfAborted()
    const reference = parseImageReference(text)
    if (reference?.digest === undefined) {
      throw new ImageError('ImageUnusable', `'${text}' does not name an image by its digest`)
    }
    const { repository, digest } = reference
    const holder = repository.startsWith(officialPrefix) ? officialHolder : userUuid
    const charge = { holder, quotaBytes }
    this.#asked.set(digest, (this.#asked.get(digest) ?? 0) + 1)
    try {
      await this.#removing.get(digest)
      const job = async (shared: AbortSignal) => await this.#make({ repository, digest, charge }, shared)
      const image =
        (await this.#store.find(digest)) ??
        (await this.#runs.run({ key: digest, user: userUuid }, job, signal))
      await this.#room.hold(charge, digest)
      return image
    } finally {
      const others = (this.#asked.get(digest) ?? 1) - 1
      if (others > 0) this.#asked.set(digest, others)
      else this.#asked.delete(digest)
    }
  }

  isKept = isKept

  async usedBytes(): Promise<ReadonlyMap<string, number>> {
    return await this.#room.usedBytes()
  }

  async collect(): Promise<readonly string[]> {
    const { maxStoreBytes } = this.#limits
    const nowMs = (this.#options.nowMs ?? Date.now)()
    const uses = this.#options.pinned()
    for (const { digest, userUuid } of uses) {
      if (!(await this.#store.touch(digest, userUuid))) await this.#store.touch(digest, officialHolder)
    }
    const images = await this.#store.list()
    const bytes = images.reduce((total, image) => total + image.bytes, 0)
    const keptMs = bytes > maxStoreBytes * nearlyFull ? unusedKeptWhenFullMs : unusedKeptMs
    const pinned = new Set(uses.map(({ digest }) => digest))
    const removed: string[] = []
    for (const { digest, lastUsedMs } of images) {
      if (pinned.has(digest) || this.#asked.has(digest) || nowMs - lastUsedMs <= keptMs) continue
      await this.#remove(digest)
      removed.push(digest)
    }
    return removed
  }

  async close(): Promise<void> {
    await this.#runs.close()
    this.#unpackers.close()
  }

  async #remove(digest: string): Promise<void> {
    const removal = this.#store.remove(digest).finally(() => this.#removing.delete(digest))
    this.#removing.set(digest, removal)
    await removal
  }

  async #make({ repository, digest, charge }: Wanted, caller: AbortSignal): Promise<PreparedImage> {
    const { client, sqfstar = 'sqfstar' } = this.#options
    const limits = this.#limits
    const timeLimit = AbortSignal.timeout(limits.maxMakingMs)
    const signal = AbortSignal.any([caller, timeLimit])
    const reservation = this.#room.reserve(charge)
    const directory = await this.#store.begin(digest)
    const fileOf = (name: string) => this.#store.fileOf(digest, name)
    try {
      const input = { repository, digest, directory, fileOf, client, limits, sqfstar, signal }
      const reserve = async (bytes: number) => await reservation.resize(bytes)
      const image = await makeImage({ ...input, unpackers: this.#unpackers, reserve })
      signal.throwIfAborted()
      await this.#store.publish(directory, image, charge.holder)
      return image
    } catch (error) {
      const full = await this.#room.diskError()
      await this.#store.discard(directory)
      caller.throwIfAborted()
      if (timeLimit.aborted) throw tooSlow(limits, error)
      throw full ?? asImageError(error)
    } finally {
      reservation.release()
    }
  }
}

async function isKept(image: PreparedImage): Promise<boolean> {
  const file = image.kind === 'container' ? image.rootfsPath : image.kernelPath
  return await access(file).then(
    () => true,
    () => false,
  )
}

function tooSlow({ maxMakingMs }: ImageLimits, cause: unknown): ImageError {
  const message = `this host did not finish the image within ${maxMakingMs / 1_000} s; the next try begins from the start`
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
