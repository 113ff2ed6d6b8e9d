/** What an image may cost a host. The defaults fit every image that is run in practice on small machines. */
export interface ImageLimits {
  /** Of one image: the blobs as they are transferred. */
  readonly maxPulledBytes: number
  /** Of one image: everything in its layers, unpacked, also what higher layers hide. */
  readonly maxUnpackedBytes: number
  /**
   * A layer above `ratioFreeBytes` may be this many times as large as what was transferred; text reaches 20.
   */
  readonly maxCompressionRatio: number
  readonly ratioFreeBytes: number
  readonly maxEntries: number
  /** zstd frames in all layers. Builders make one or two for each file at most. */
  readonly maxFrames: number
  /** Directories passed on the way to the entries, all together. Real images have some ten per entry. */
  readonly maxPathSteps: number
  readonly maxMetadataBytes: number
  readonly maxKernelBytes: number
  readonly maxInitrdBytes: number
  /** Entrypoint, command and environment together. */
  readonly maxProcessBytes: number
  /** Of all images of the host, those that are being made included. Unused ones make room. */
  readonly maxStoreBytes: number
  /**
   * Processor time to unpack an image: as much for any, and this much more for its size. A tenth of it
   * suffices in practice.
   */
  readonly minUnpackSeconds: number
  readonly unpackBytesPerSecond: number
  /** From the first request to the registry on. A busy host may need long, so the image is not to blame. */
  readonly maxMakingMs: number
  /** Images that are made ready at the same time; each keeps a processor busy. */
  readonly maxConcurrent: number
  /**
   * What is made ready goes on without those who asked for it, but not for longer: as long as an image is
   * kept that nobody uses.
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
