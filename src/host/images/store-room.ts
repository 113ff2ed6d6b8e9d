import { statfs } from 'node:fs/promises'
import { SerialQueue } from '../agent/serial-queue.ts'
import type { ImageLimits } from './image-limits.ts'
import { officialHolder } from './image-store.ts'
import type { ImageStore, StoredImage } from './image-store.ts'
import { ImageError } from './images.ts'
import type { ImageUse } from './images.ts'

/**
 * Who has how much of the store. Everybody who asks for an image from a repository of their own holds it, and each holder is
 * charged all its bytes: so what one user does changes nobody else's charge, and tells nobody that another one has the same image.
 * Official images are charged to nobody. What is being made is charged to who asked for it first.
 *
 * Where room is missing, what nobody has pinned goes, by age of use: for a user's quota the user's own, for the store that of who
 * holds most. So a user's images never keep those of another one out.
 */
export interface StoreRoomOptions {
  readonly store: ImageStore
  /** On the disk whose free room counts. */
  readonly directory: string
  readonly limits: Pick<ImageLimits, 'maxStoreBytes' | 'maxUserBytes'>
  /** What runs, sleeps or is being started. */
  readonly pinned: () => readonly ImageUse[]
  /** Whether somebody waits for it right now. */
  readonly isAsked: (digest: string) => boolean
  readonly remove: (digest: string) => Promise<void>
}

/** Room for an image that is being made; given back as soon as it is stored or failed. */
export interface Reservation {
  /** Makes it this large. Throws ImageError where there is no room, and is then as large as before. */
  resize(bytes: number): Promise<void>
  release(): void
}

/** Left to the rest of the host. */
export const minFreeBytes = 256 * 1024 * 1024

export class StoreRoom {
  readonly #options: StoreRoomOptions
  readonly #reserved = new Map<Reservation, { readonly holder: string; bytes: number }>()
  /** One decision at a time, or two would count on the same room. */
  readonly #queue = new SerialQueue()

  constructor(options: StoreRoomOptions) {
    this.#options = options
  }

  reserve(holder: string): Reservation {
    const kept = { holder, bytes: 0 }
    const reservation: Reservation = {
      resize: async (bytes) => {
        await this.#queue.run(async () => {
          await this.#makeRoom(holder, bytes - kept.bytes, bytes)
          // Released meanwhile, it is nobody's.
          if (this.#reserved.has(reservation)) kept.bytes = bytes
        })
      },
      release: () => this.#reserved.delete(reservation),
    }
    this.#reserved.set(reservation, kept)
    return reservation
  }

  /** Counts an image that is stored as used now. Throws ImageError where the holder has no room for it. */
  async hold(holder: string, digest: string): Promise<void> {
    if (await this.#options.store.touch(digest, holder)) return
    const { store } = this.#options
    await this.#queue.run(async () => {
      const images = await store.list()
      const bytes = images.find((image) => image.digest === digest)?.bytes ?? 0
      await this.#makeRoomOfUser(images, { holder, more: bytes, whole: bytes })
      await store.hold(digest, holder)
    })
  }

  async #makeRoom(holder: string, more: number, whole: number): Promise<void> {
    const { store } = this.#options
    if (more <= 0) return
    await this.#makeRoomOfUser(await store.list(), { holder, more, whole })
    await this.#makeRoomInStore(more)
  }

  async #makeRoomOfUser(
    images: readonly StoredImage[],
    { holder, more, whole }: { readonly holder: string; readonly more: number; readonly whole: number },
  ): Promise<void> {
    const { maxUserBytes } = this.#options.limits
    if (holder === officialHolder) return
    if (whole > maxUserBytes) {
      throw new ImageError(
        'ImageUnusable',
        `the image takes ${mib(whole)} MiB of a host while it is made ready, at most ${mib(maxUserBytes)} MiB are allowed for all images of a user`,
      )
    }
    let charged = this.#charge(images, holder)
    const pinned = this.#options.pinned()
    const isPinned = (digest: string) =>
      pinned.some((use) => use.digest === digest && use.userUuid === holder)
    const unpinned = images
      .filter(
        ({ digest, holders }) => holders.has(holder) && !isPinned(digest) && !this.#options.isAsked(digest),
      )
      .sort((a, b) => (a.holders.get(holder) ?? 0) - (b.holders.get(holder) ?? 0))
    for (const image of unpinned) {
      if (charged + more <= maxUserBytes) return
      await this.#letGo(image, holder)
      charged -= image.bytes
    }
    if (charged + more <= maxUserBytes) return
    throw new ImageError(
      'HostFull',
      `images of instances of yours that run, sleep or start take ${mib(charged)} MiB of this host, and this one needs ${mib(more)} MiB more: ` +
        `at most ${mib(maxUserBytes)} MiB are allowed for all images of a user; stop instances of other images`,
    )
  }

  /** The image goes with its last holder. */
  async #letGo({ digest, holders }: StoredImage, holder: string): Promise<void> {
    if (holders.size > 1) await this.#options.store.letGo(digest, holder)
    else await this.#options.remove(digest)
  }

  async #makeRoomInStore(more: number): Promise<void> {
    const { store, limits, remove, directory } = this.#options
    for (;;) {
      const images = await store.list()
      const total = sum(images) + this.#reservedBytes(() => true)
      const isOver = total + more > limits.maxStoreBytes
      if (!isOver && (await freeBytes(directory)) - more >= minFreeBytes) return
      const victim = this.#nextToGo(images)
      if (victim !== undefined) await remove(victim.digest)
      else if (isOver) {
        throw new ImageError(
          'HostFull',
          `images that are in use take ${mib(total)} MiB of this host, and this one needs ${mib(more)} MiB more: at most ${mib(limits.maxStoreBytes)} MiB are allowed`,
        )
      } else throw diskFull()
    }
  }

  /** Of who holds most, what was last used longest ago; official images go last. */
  #nextToGo(images: readonly StoredImage[]): StoredImage | undefined {
    const pinned = new Set(this.#options.pinned().map(({ digest }) => digest))
    const unpinned = images.filter(({ digest }) => !pinned.has(digest) && !this.#options.isAsked(digest))
    const holders = new Set(unpinned.flatMap((image) => [...image.holders.keys()]))
    holders.delete(officialHolder)
    const [most] = [...holders].sort((a, b) => this.#charge(images, b) - this.#charge(images, a))
    const theirs = most === undefined ? unpinned : unpinned.filter((image) => image.holders.has(most))
    return theirs.toSorted((a, b) => a.lastUsedMs - b.lastUsedMs)[0]
  }

  #charge(images: readonly StoredImage[], holder: string): number {
    const stored = sum(images.filter((image) => image.holders.has(holder)))
    return stored + this.#reservedBytes((reserved) => reserved === holder)
  }

  #reservedBytes(counts: (holder: string) => boolean): number {
    let bytes = 0
    for (const reserved of this.#reserved.values()) if (counts(reserved.holder)) bytes += reserved.bytes
    return bytes
  }
}

export function diskFull(cause?: unknown): ImageError {
  const message = `less than ${mib(minFreeBytes)} MiB are free where this host keeps images`
  return new ImageError('HostFull', message, { cause })
}

export async function freeBytes(directory: string): Promise<number> {
  const disk = await statfs(directory)
  return disk.bavail * disk.bsize
}

function sum(images: readonly StoredImage[]): number {
  return images.reduce((total, image) => total + image.bytes, 0)
}

function mib(bytes: number): number {
  return Math.ceil(bytes / 1024 / 1024)
}
