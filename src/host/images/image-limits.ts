/** What an image may cost a host. The defaults fit every image that is run in practice on small machines. */
export interface ImageLimits {
  /** The blobs of one image, as they are transferred. */
  readonly maxPulledBytes: number
  /** Everything in the layers of one image, unpacked, also files that higher layers hide. */
  readonly maxUnpackedBytes: number
  /**
   * How many times larger than its transferred blob an unpacked layer above `ratioFreeBytes` may be. Text
   * reaches 20.
   */
  readonly maxCompressionRatio: number
  readonly ratioFreeBytes: number
  readonly maxEntries: number
  /** The zstd frames in all layers. Builders make at most two for each file. */
  readonly maxFrames: number
  /**
   * The directories that are passed on the way to all entries, added up. Real images have some ten per
   * entry.
   */
  readonly maxPathSteps: number
  readonly maxMetadataBytes: number
  readonly maxKernelBytes: number
  readonly maxInitrdBytes: number
  /** Entrypoint, command and environment together. */
  readonly maxProcessBytes: number
  /** All images of the host, also those being made. Unused images are removed to make room. */
  readonly maxStoreBytes: number
  /**
   * The processor time to unpack an image is this for any image, and one second more for each
   * `unpackBytesPerSecond` of its size. A tenth of it is enough in practice.
   */
  readonly minUnpackSeconds: number
  readonly unpackBytesPerSecond: number
  /**
   * The time from the first request to the registry until the image is ready. A busy host may need long, so
   * an image that takes longer is not called unusable.
   */
  readonly maxMakingMs: number
  /** The images that are made ready at the same time. Each keeps a processor busy. */
  readonly maxConcurrent: number
  /**
   * How long an image is still made ready after nobody waits for it any more: as long as an unused image is
   * kept.
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
