import type { ImageLimits } from './image-limits.ts'
import { LayerError } from './tar-entry.ts'

/**
 * Counts what the reading of one image's layers has used. Every call throws LayerError once its bound is
 * passed, so a reader that counts each of its steps is sure to end.
 */
export interface UnpackBudget {
  /** Begins a layer whose blob has this many bytes. */
  beginLayer(pulledBytes: number): void
  /** Counts bytes of the layer that are about to be decompressed. */
  countRead(bytes: number): void
  /** Counts bytes that came out of the decompression. */
  countUnpacked(bytes: number): void
  /** Counts a zstd frame. A layer may have one for each file, and each costs a decompressor of its own. */
  countFrame(): void
  /**
   * Throws if the reading takes too long. Every call above checks this; a loop without such calls has to
   * call it.
   */
  checkTime(): void
}

/**
 * The most bytes that are read for each unpacked byte, beyond `emptyReadBytes`. A layer of empty parts
 * (frames, gzip members, blocks) costs time and brings nothing. Content that compresses badly gets longer by
 * some percent, and tables of contents behind the files, as in `zstd:chunked`, are some percent of a layer
 * as well.
 */
const maxReadPerUnpacked = 2
const emptyReadBytes = 1024 * 1024

export type UnpackLimits = Pick<
  ImageLimits,
  | 'ratioFreeBytes'
  | 'maxCompressionRatio'
  | 'maxUnpackedBytes'
  | 'maxFrames'
  | 'minUnpackSeconds'
  | 'unpackBytesPerSecond'
>

export function createUnpackBudget(
  limits: UnpackLimits,
  pulledBytes: number,
  usedCpuMs: () => number = cpuMsOfProcess,
): UnpackBudget {
  const maxSeconds = unpackSeconds(limits, pulledBytes)
  const beganMs = usedCpuMs()
  let frames = 0
  let totalUnpacked = 0
  let layer = { pulled: 0, read: 0, unpacked: 0 }

  function checkTime(): void {
    if (usedCpuMs() - beganMs > maxSeconds * 1_000) throw new LayerError(tooLong(maxSeconds))
  }

  return {
    checkTime,
    beginLayer(pulled) {
      layer = { pulled, read: 0, unpacked: 0 }
    },
    countRead(bytes) {
      checkTime()
      layer.read += bytes
      const least = (layer.read - emptyReadBytes) / maxReadPerUnpacked
      if (layer.unpacked < least) {
        throw new LayerError(
          `the first ${layer.read} bytes of a layer unpack to ${layer.unpacked} bytes only, at least ${Math.ceil(least)} are expected: it consists of empty parts`,
        )
      }
    },
    countUnpacked(bytes) {
      checkTime()
      layer.unpacked += bytes
      totalUnpacked += bytes
      const fullest = Math.max(limits.ratioFreeBytes, layer.pulled * limits.maxCompressionRatio)
      if (layer.unpacked > fullest) {
        throw new LayerError(
          `a layer of ${layer.pulled} bytes unpacks to more than ${fullest} bytes, ${limits.maxCompressionRatio} times its size`,
        )
      }
      if (totalUnpacked > limits.maxUnpackedBytes) {
        throw new LayerError(`the image unpacks to more than ${limits.maxUnpackedBytes} bytes`)
      }
    },
    countFrame() {
      checkTime()
      frames += 1
      if (frames > limits.maxFrames) {
        throw new LayerError(`the layers of the image have more than ${limits.maxFrames} compressed frames`)
      }
    },
  }
}

/** The most processor time, in seconds, for unpacking an image. A larger image may take more. */
export function unpackSeconds(
  limits: Pick<ImageLimits, 'minUnpackSeconds' | 'unpackBytesPerSecond'>,
  pulledBytes: number,
): number {
  return limits.minUnpackSeconds + Math.ceil(pulledBytes / limits.unpackBytesPerSecond)
}

export function tooLong(seconds: number): string {
  return `the image takes more than ${seconds} s of processor time to unpack; build it with fewer or larger files`
}

function cpuMsOfProcess(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
