/**
 * The port through which a host gets images. An implementation verifies every digest, never lets the content
 * of a layer touch the host's own file system outside its store, and unpacks a digest once however many ask
 * at once.
 */
export interface Images {
  /**
   * Makes an image ready to run and returns where it is. Repeats are free. How many are made at a time is
   * shared fairly between the users who ask. Throws `ImageError`. Aborting lets the caller go at once; what
   * was begun for him goes on, for whoever asks next. Nothing half-made is ever found by a later call.
   */
  prepare(wanted: ImageRequest, signal?: AbortSignal): Promise<PreparedImage>
  /** Whether what `prepare` returned, however long ago, can still be run from where it is. */
  isKept(image: PreparedImage): Promise<boolean>
  /**
   * What the images of each user take here, by the user's UUID; an image of several users counts for each.
   */
  usedBytes(): Promise<ReadonlyMap<string, number>>
  /**
   * Deletes unpacked images that nothing uses and that nobody asked for during a while; returns their
   * digests.
   */
  collect(): Promise<readonly string[]>
  /**
   * Ends what is being made, also for those who wait for it; resolves when nothing of that is left. Nothing
   * is made any more.
   */
  close(): Promise<void>
}

export interface ImageRequest {
  /** `<repository>@sha256:<hex>` */
  readonly reference: string
  /** Whose start needs it. */
  readonly userUuid: string
  /** How much of this host all images of the user may take. */
  readonly quotaBytes: number
}

/** An instance of the user runs, sleeps or is being started with the image. */
export interface ImageUse {
  readonly digest: string
  readonly userUuid: string
}

export type PreparedImage = ContainerImage | KernelImage

/** An ordinary container image: runs on the platform's kernel. */
export interface ContainerImage {
  readonly kind: 'container'
  readonly digest: string
  /** A read-only squashfs of all layers, shared by all instances of the digest. World-readable. */
  readonly rootfsPath: string
  readonly entrypoint: readonly string[]
  readonly command: readonly string[]
  /** `KEY=value` strings of the image. */
  readonly env: readonly string[]
  readonly workingDirectory: string
  /** As in the image: `''`, `name`, `uid`, `name:group`, `uid:gid`; resolved inside the guest. */
  readonly user: string
  readonly labels: Readonly<Record<string, string>>
}

/** An image that brings its own kernel and, maybe, initrd. */
export interface KernelImage {
  readonly kind: 'kernel'
  readonly digest: string
  readonly kernelPath: string
  readonly initrdPath?: string
  /** Hardcoded in the image; stands before the arguments that the platform sets. */
  readonly kernelArgs: readonly string[]
  readonly command: readonly string[]
  readonly env: readonly string[]
  readonly labels: Readonly<Record<string, string>>
}

/** An image could not be made ready. */
export class ImageError extends Error {
  override readonly name = 'ImageError'
  readonly failure: 'ImageUnavailable' | 'ImageUnusable' | 'QuotaExceeded' | 'HostFull'
  constructor(failure: ImageError['failure'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.failure = failure
  }
}
