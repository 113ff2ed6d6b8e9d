import { SerialQueue } from '../agent/serial-queue.ts'
import { DiskFullError } from '../disk-room.ts'
import type { DiskRoom } from '../disk-room.ts'
import type { ImageLimits } from './image-limits.ts'
import { officialHolder } from './image-store.ts'
import type { ImageStore, StoredImage } from './image-store.ts'
import { ImageError } from './images.ts'
import type { ImageUse } from './images.ts'

/**
 * Counts how much of the store each holder takes. A user who asks for an image from a repository of his own
 * becomes its holder, and each holder is charged all bytes of the image. So what one user does changes
 * nobody else's charge, and does not reveal that another user has the same image. Official images are
 * charged to nobody. An image that is being made is charged to the user who asked for it first.
 *
 * If room is missing, images that nobody has pinned are removed. The image whose last use is longest ago
 * comes first. For a user's quota, the user's own images are removed; for the store, images of the holder
 * who takes most. So a user's images never keep another user's images out.
 */
export interface StoreRoomOptions {
  readonly store: ImageStore
  readonly directory: string
  /**
   * The ledger of the host's disks. An image that is being made takes its room from there, like everything
   * else.
   */
  readonly disk: DiskRoom
  readonly limits: Pick<ImageLimits, 'maxStoreBytes'>
  /** Returns the images of instances that run, sleep or are being started. */
  readonly pinned: () => readonly ImageUse[]
  /** Whether a caller waits for this image now. */
  readonly isAsked: (digest: string) => boolean
  readonly remove: (digest: string) => Promise<void>
}

/** Who is charged for an image, and the most bytes of the host that all images of this holder may take. */
export interface Charge {
  readonly holder: string
  readonly quotaBytes: number
}

/** Room for an image that is being made. It is given back as soon as the image is stored or has failed. */
export interface Reservation {
  /**
   * Sets the size of the reservation. If there is no room, it throws ImageError and the size stays
   * unchanged.
   */
  resize(bytes: number): Promise<void>
  release(): void
}

export class StoreRoom {
  readonly #options: StoreRoomOptions
  readonly #reserved = new Map<Reservation, { readonly holder: string; bytes: number }>()
  /** Decisions are made one at a time. Otherwise two decisions would use the same free room. */
  readonly #queue = new SerialQueue()

  constructor(options: StoreRoomOptions) {
    this.#options = options
    options.disk.add({
      directory: options.directory,
      unwrittenBytes: async () => await Promise.resolve(this.#reservedBytes(() => true)),
    })
  }

  reserve(charge: Charge): Reservation {
    const kept = { holder: charge.holder, bytes: 0 }
    const reservation: Reservation = {
      resize: async (bytes) => {
        const resize = (): void => {
          // If the reservation was released meanwhile, it does not count any more.
          if (this.#reserved.has(reservation)) kept.bytes = bytes
        }
        await this.#queue.run(async () => {
          const more = bytes - kept.bytes
          if (more <= 0) return resize()
          await this.#makeRoomOfUser(await this.#options.store.list(), { charge, more, whole: bytes })
          await this.#makeRoomInStore(more, resize)
        })
      },
      release: () => this.#reserved.delete(reservation),
    }
    this.#reserved.set(reservation, kept)
    return reservation
  }

  /** Records that the holder uses a stored image now. Throws ImageError if the holder has no room for it. */
  async hold(charge: Charge, digest: string): Promise<void> {
    const { holder } = charge
    if (await this.#options.store.touch(digest, holder)) return
    const { store } = this.#options
    await this.#queue.run(async () => {
      const images = await store.list()
      const bytes = images.find((image) => image.digest === digest)?.bytes ?? 0
      await this.#makeRoomOfUser(images, { charge, more: bytes, whole: bytes })
      await store.hold(digest, holder)
    })
  }

  /**
   * Returns the error for a write that failed because the disk is full, or undefined if the disk is not
   * full.
   */
  async diskError(): Promise<ImageError | undefined> {
    const { disk, directory } = this.#options
    const figures = await disk.figures(directory)
    return figures.freeBytes < figures.reserveBytes ? diskFull(new DiskFullError(1, figures)) : undefined
  }

  /** The bytes that the images of each user take, images being made included. */
  async usedBytes(): Promise<ReadonlyMap<string, number>> {
    const images = await this.#options.store.list()
    const holders = new Set(images.flatMap((image) => [...image.holders.keys()]))
    for (const { holder } of this.#reserved.values()) holders.add(holder)
    holders.delete(officialHolder)
    return new Map([...holders].map((holder) => [holder, this.#charge(images, holder)]))
  }

  async #makeRoomOfUser(
    images: readonly StoredImage[],
    {
      charge: { holder, quotaBytes },
      more,
      whole,
    }: { readonly charge: Charge; readonly more: number; readonly whole: number },
  ): Promise<void> {
    if (holder === officialHolder) return
    if (whole > quotaBytes) {
      throw new ImageError(
        'QuotaExceeded',
        `Quota 'image_mb' exceeded: the image takes ${mib(whole)} MiB of a host while it is made ready, and ` +
          `all images of the account may take ${mib(quotaBytes)} MiB`,
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
      if (charged + more <= quotaBytes) return
      await this.#letGo(image, holder)
      charged -= image.bytes
    }
    if (charged + more <= quotaBytes) return
    throw new ImageError(
      'QuotaExceeded',
      `Quota 'image_mb' exceeded: images of instances that run, sleep or start take ${mib(charged)} MiB of this host, and this one ` +
        `needs ${mib(more)} MiB more, of ${mib(quotaBytes)} MiB for all images of the account; stop instances of other images`,
    )
  }

  /** Removes a holder from an image. If it was the last holder, the image is deleted. */
  async #letGo({ digest, holders }: StoredImage, holder: string): Promise<void> {
    if (holders.size > 1) await this.#options.store.letGo(digest, holder)
    else await this.#options.remove(digest)
  }

  /**
   * Makes room in the store. Then `promise` gives the room to the reservation, before anybody else reads the
   * free room.
   */
  async #makeRoomInStore(more: number, promise: () => void): Promise<void> {
    const { store, limits, remove, disk, directory } = this.#options
    for (;;) {
      const images = await store.list()
      const total = sum(images) + this.#reservedBytes(() => true)
      const isOver = total + more > limits.maxStoreBytes
      if (!isOver && (await this.#takeFromDisk(more, promise))) return
      const victim = this.#nextToGo(images)
      if (victim !== undefined) await remove(victim.digest)
      else if (isOver) {
        throw new ImageError(
          'HostFull',
          `images that are in use take ${mib(total)} MiB of this host, and this one needs ${mib(more)} MiB more: at most ${mib(limits.maxStoreBytes)} MiB are allowed`,
        )
      } else throw diskFull(new DiskFullError(more, await disk.figures(directory)))
    }
  }

  async #takeFromDisk(bytes: number, promise: () => void): Promise<boolean> {
    const { disk, directory } = this.#options
    return await disk.alone(async () => {
      const fits = bytes <= (await disk.figures(directory)).leftBytes
      if (fits) promise()
      return fits
    })
  }

  /**
   * The image that is deleted next: of the holder who takes most, the image whose last use is longest ago.
   * Official images come last.
   */
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

function diskFull(cause: DiskFullError): ImageError {
  return new ImageError('HostFull', cause.message, { cause })
}

function sum(images: readonly StoredImage[]): number {
  return images.reduce((total, image) => total + image.bytes, 0)
}

function mib(bytes: number): number {
  return Math.ceil(bytes / 1024 / 1024)
}
