import { statfs } from 'node:fs/promises'
import type { DiskSize } from '../domain/host/disk-reserve.ts'

/** The size and the free room of the file system on which `place` is. */
export async function diskSizeAt(place: string): Promise<DiskSize> {
  const { bavail, blocks, bsize } = await statfs(place)
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize }
}

export async function freeBytesAt(place: string): Promise<number> {
  return (await diskSizeAt(place)).freeBytes
}
