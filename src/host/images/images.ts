/**
 * The port through which a host gets images. An implementation verifies every digest, never lets the content
 * of a layer touch the host's file system outside its store, and unpacks a digest once, no matter how many
 * callers ask at once.
 */
export interface Images {
  /**
   * Makes an image ready to run and returns where it is. Repeats cost nothing. The images that can be made
   * at a time are shared fairly between the users who ask. Throws `ImageError`. An abort ends the caller's
   * wait at once; the work goes on for the next caller. A later call never finds an unfinished image.
   */
  prepare(wanted: ImageRequest, signal?: AbortSignal): Promise<PreparedImage>
  /** Whether an image that `prepare` returned at some time can still be run from there. */
  isKept(image: PreparedImage): Promise<boolean>
  /**
   * The bytes that the images of each user take here, by the user's UUID. An image of several users counts
   * for each of them.
   */
  usedBytes(): Promise<ReadonlyMap<string, number>>
  /** Deletes unpacked images that nothing uses and nobody has asked for in a while. Returns their digests. */
  collect(): Promise<readonly string[]>
  /**
   * Aborts the images that are being made, also for callers that wait for them, and makes none from then on.
   * Resolves when the work has ended.
   */
  close(): Promise<void>
}

export interface ImageRequest {
  /** `<repository>@sha256:<hex>` */
  readonly reference: string
  /** The user whose start needs the image. */
  readonly userUuid: string
  /** How much of this host's disk all images of the user may take. */
  readonly quotaBytes: number
}

/** The use of an image: an instance of the user runs, sleeps or is being started with it. */
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
  /** Arguments fixed in the image. They stand before those that the platform sets. */
  readonly kernelArgs: readonly string[]
  readonly command: readonly string[]
  readonly env: readonly string[]
  readonly labels: Readonly<Record<string, string>>
}

/** Thrown where an image could not be made ready. */
export class ImageError extends Error {
  override readonly name = 'ImageError'
  readonly failure: 'ImageUnavailable' | 'ImageUnusable' | 'QuotaExceeded' | 'HostFull'
  constructor(failure: ImageError['failure'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.failure = failure
  }
}
