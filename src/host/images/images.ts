/**
 * The port through which a host gets images. An implementation verifies every digest, never lets the content
 * of a layer touch the host's file system outside its store, and unpacks a digest once, no matter how many
 * callers ask at once.
 */
export interface Images {
  /**
   * Makes an image ready to run and returns where it is. Returns at once if it is ready already. Only some
   * images are made at a time, and these places are shared fairly between the users who ask. Throws
   * `ImageError`. An abort ends the caller's wait at once; the work goes on for the next caller. A later
   * call never finds an unfinished image.
   */
  prepare(wanted: ImageRequest, signal?: AbortSignal): Promise<PreparedImage>
  /** Whether the image, which `prepare` returned earlier, still exists and can be run. */
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
  /** The image, as `<repository>@sha256:<hex>`. */
  readonly reference: string
  /** The user whose start needs the image. */
  readonly userUuid: string
  /** The most bytes of this host's disk that all images of the user may take. */
  readonly quotaBytes: number
}

/** The use of an image: an instance of the user runs, sleeps or is being started with it. */
export interface ImageUse {
  readonly digest: string
  readonly userUuid: string
}

export type PreparedImage = ContainerImage | KernelImage

/** An ordinary container image. It runs on the platform's kernel. */
export interface ContainerImage {
  readonly kind: 'container'
  readonly digest: string
  /**
   * The path of a read-only squashfs of all layers. All instances of the digest share it, and every user of
   * the host may read it.
   */
  readonly rootfsPath: string
  readonly entrypoint: readonly string[]
  readonly command: readonly string[]
  /** The environment of the image, as strings `KEY=value`. */
  readonly env: readonly string[]
  readonly workingDirectory: string
  /**
   * The user, as the image names it: `''`, `name`, `uid`, `name:group` or `uid:gid`. The guest resolves it.
   */
  readonly user: string
  readonly labels: Readonly<Record<string, string>>
}

/** An image that brings its own kernel and, maybe, initrd. */
export interface KernelImage {
  readonly kind: 'kernel'
  readonly digest: string
  readonly kernelPath: string
  readonly initrdPath?: string
  /** The kernel arguments of the image. They come before those that the platform adds. */
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
