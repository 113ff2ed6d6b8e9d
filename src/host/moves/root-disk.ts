import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import type { PreparedImage } from '../images/images.ts'

/** The superblock of a squashfs is at its beginning. */
const headBytes = 4_096
/** At the end are the tables, which have the place of each file's content. */
const tailBytes = 262_144

/**
 * Tells the root disks of two hosts apart at little cost. A guest that goes on from its memory remembers
 * where on its root disk each file is, so the disk has to be the same byte by byte. One image gives the
 * same bytes on every host, unless the hosts have different versions of the tool that packs them. That
 * shows in the disk's size, in its superblock or in its tables. Undefined if the image has no root disk.
 */
export async function fingerprint(image: PreparedImage): Promise<string | undefined> {
  if (image.kind === 'kernel') return undefined
  const file = await open(image.rootfsPath).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  })
  if (file === undefined) return 'missing'
  try {
    const { size } = await file.stat()
    const hash = createHash('sha256').update(`${size}\n`)
    for (const start of [0, Math.max(headBytes, size - tailBytes)]) {
      const length = start === 0 ? headBytes : tailBytes
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, start)
      hash.update(buffer.subarray(0, bytesRead))
    }
    return hash.digest('hex')
  } finally {
    await file.close()
  }
}
