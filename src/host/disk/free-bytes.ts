import { statfs } from 'node:fs/promises'

/** What a process without privileges can still write where `place` is. */
export async function freeBytesAt(place: string): Promise<number> {
  const { bavail, bsize } = await statfs(place)
  return bavail * bsize
}
