import type { FileHandle } from 'node:fs/promises'

/** Where the superblock of ext4 is, whatever the size of its blocks, and what is read of it. */
const superblock = { offset: 1_024, bytes: 1_024, magic: 0xef53 } as const
const sixtyFourBit = 0x80
/** Of blocks of 64 KiB. */
const maxLogBlockSize = 6

/**
 * How large the file system in the file says that it is; undefined where there is no superblock. A tenant may
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
