/**
 * The most that an image may cost a host. The defaults permit every image that is run in practice on small
 * machines.
 */
export interface ImageLimits {
  /** The most bytes of the blobs of one image, as they are transferred. */
  readonly maxPulledBytes: number
  /** The most bytes in all layers of one image, unpacked. Files that higher layers hide count too. */
  readonly maxUnpackedBytes: number
  /**
   * The most that the unpacked size of a layer may be, as a multiple of its transferred blob. It holds for
   * layers above `ratioFreeBytes`. Text reaches 20.
   */
  readonly maxCompressionRatio: number
  readonly ratioFreeBytes: number
  readonly maxEntries: number
  /** The most zstd frames in all layers. Builders make at most two for each file. */
  readonly maxFrames: number
  /**
   * The most directories that are passed on the way to all entries, added up. Real images have some ten per
   * entry.
   */
  readonly maxPathSteps: number
  readonly maxMetadataBytes: number
  readonly maxKernelBytes: number
  readonly maxInitrdBytes: number
  /** The most bytes of entrypoint, command and environment together. */
  readonly maxProcessBytes: number
  /**
   * The most bytes of all images of the host, also those being made. Unused images are removed to make room.
   */
  readonly maxStoreBytes: number
  /**
   * The processor time, in seconds, that every image may take to unpack. An image may take one second more
   * for each `unpackBytesPerSecond` of its size. A tenth of it is enough in practice.
   */
  readonly minUnpackSeconds: number
  readonly unpackBytesPerSecond: number
  /**
   * The most time from the first request to the registry until the image is ready. A busy host may need
   * long, so an image that takes longer is not called unusable.
   */
  readonly maxMakingMs: number
  /** The most images that are made ready at the same time. Each keeps a processor busy. */
  readonly maxConcurrent: number
  /**
   * How long the work on an image goes on after nobody waits for the image any more. It is as long as an
   * unused image is kept.
   */
  readonly unattendedMs: number
}

const mib = 1024 * 1024

export const defaultImageLimits: ImageLimits = {
  maxPulledBytes: 4096 * mib,
  maxUnpackedBytes: 8192 * mib,
  maxCompressionRatio: 200,
  ratioFreeBytes: 64 * mib,
  maxEntries: 400_000,
  maxFrames: 800_000,
  maxPathSteps: 20_000_000,
  maxMetadataBytes: 128 * mib,
  maxKernelBytes: 256 * mib,
  maxInitrdBytes: 2048 * mib,
  maxProcessBytes: 256 * 1024,
  maxStoreBytes: 40_960 * mib,
  minUnpackSeconds: 60,
  unpackBytesPerSecond: 8 * mib,
  maxMakingMs: 1_800_000,
  maxConcurrent: 3,
  unattendedMs: 3_600_000,
}
