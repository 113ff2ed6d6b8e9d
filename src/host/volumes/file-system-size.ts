import type { FileHandle } from 'node:fs/promises'

/**
 * Where ext4's superblock is, how many of its bytes are read, and its magic number. The place is the same
 * for every block size.
 */
const superblock = { offset: 1_024, bytes: 1_024, magic: 0xef53 } as const
const sixtyFourBit = 0x80
/** The largest logarithm of a block size that is accepted: blocks of 64 KiB. */
const maxLogBlockSize = 6

/**
 * The size that the superblock in the file states. Undefined if there is no superblock. A user may have
 * written the superblock, so the size may be false.
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
