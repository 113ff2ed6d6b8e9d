import { imageSize, stagedVolumes } from './volume-directory.ts'
import { freeBytesAt, mebibyte } from './volume-format.ts'
import type { VolumeRoom } from './volumes.ts'

/** Kept from volumes: images, consoles and snapshots grow, and a disk that is full to the last block stops everything on it. */
export const defaultReserveMb = 2_048

/**
 * One look at the disk and at each volume, which takes microseconds apiece. A file has less of the disk than it promises, so what
 * volumes have already counts as theirs. Those that are being made or erased count in full until they are gone, as their rows do.
 */
export async function readRoom(
  root: string,
  { reserveMb = defaultReserveMb }: { readonly reserveMb?: number } = {},
): Promise<VolumeRoom> {
  const sizes = await Promise.all((await stagedVolumes(root)).map((staged) => imageSize(root, staged)))
  let promisedBytes = 0
  let allocatedBytes = 0
  for (const size of sizes) {
    if (size === undefined) continue
    promisedBytes += size.promisedBytes
    allocatedBytes += Math.min(size.allocatedBytes, size.promisedBytes)
  }
  const freeBytes = await freeBytesAt(root)
  const totalMb = Math.max(0, Math.floor((freeBytes + allocatedBytes) / mebibyte) - reserveMb)
  return {
    volumes: sizes.filter((size) => size !== undefined).length,
    totalMb,
    promisedMb: Math.ceil(promisedBytes / mebibyte),
    freeMb: Math.floor(freeBytes / mebibyte),
  }
}
