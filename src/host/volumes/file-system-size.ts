import type { FileHandle } from 'node:fs/promises'

/** The place of ext4's superblock, which is the same for every block size, and how much of it is read. */
const superblock = { offset: 1_024, bytes: 1_024, magic: 0xef53 } as const
const sixtyFourBit = 0x80
/** The logarithm for the largest blocks, of 64 KiB. */
const maxLogBlockSize = 6

/**
 * The size that the file system in the file says it has. Undefined if there is no superblock. A user may
 * have written it.
 */
export async function fileSystemBytes(file: FileHandle): Promise<number | undefined> {
  const { buffer, bytesRead } = await file.read(
    Buffer.alloc(superblock.bytes),
    0,
    superblock.bytes,
    superblock.offset,
  )
  if (bytesRead < superblock.bytes || buffer.readUInt16LE(0x38) !== superblock.magic) return undefined
  const logBlockSize = buffer.readUInt32LE(0x18)
  if (logBlockSize > maxLogBlockSize) return undefined
  const isLarge = (buffer.readUInt32LE(0x60) & sixtyFourBit) !== 0
  const blocks = buffer.readUInt32LE(0x4) + (isLarge ? buffer.readUInt32LE(0x150) : 0) * 2 ** 32
  return blocks * 1_024 * 2 ** logBlockSize
}
