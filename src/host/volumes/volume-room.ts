import { diskReserveBytes } from '../../domain/host/disk-reserve.ts'
import { diskSizeAt } from '../free-bytes.ts'
import { imageSize, stagedVolumes } from './volume-directory.ts'
import { mebibyte } from './volume-format.ts'
import type { VolumeRoom } from './volumes.ts'

interface VolumePromises {
  readonly volumes: number
  readonly promisedBytes: number
  /** The part of the promised bytes that is already allocated on the disk. */
  readonly allocatedBytes: number
}

/**
 * Reads the size of each volume, which takes microseconds per volume. A volume's file takes less room on the
 * disk than the volume promises. Volumes that are being made or erased count in full until they are deleted,
 * as their rows do.
 */
export async function readPromises(root: string): Promise<VolumePromises> {
  const found = await Promise.all((await stagedVolumes(root)).map((staged) => imageSize(root, staged)))
  const sizes = found.filter((size) => size !== undefined)
  return {
    volumes: sizes.length,
    promisedBytes: sizes.reduce((sum, size) => sum + size.promisedBytes, 0),
    allocatedBytes: sizes.reduce((sum, size) => sum + Math.min(size.allocatedBytes, size.promisedBytes), 0),
  }
}

/**
 * Reads the room for volumes. The disk room that volumes have already taken counts as theirs. Room that was
 * promised to others on the same disk does not count.
 */
export async function readRoom(
  root: string,
  { reserveBytes, othersBytes = 0 }: { readonly reserveBytes?: number; readonly othersBytes?: number } = {},
): Promise<VolumeRoom> {
  const { volumes, promisedBytes, allocatedBytes } = await readPromises(root)
  const { freeBytes, totalBytes } = await diskSizeAt(root)
  const reserveMb = (reserveBytes ?? diskReserveBytes(totalBytes)) / mebibyte
  const usableBytes = freeBytes + allocatedBytes - othersBytes
  return {
    volumes,
    totalMb: Math.max(0, Math.floor(usableBytes / mebibyte) - reserveMb),
    promisedMb: Math.ceil(promisedBytes / mebibyte),
    freeMb: Math.floor(freeBytes / mebibyte),
    diskMb: Math.floor(totalBytes / mebibyte),
  }
}
