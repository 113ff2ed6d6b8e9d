import type { FileHandle } from 'node:fs/promises'

/**
 * Sets the owner and time of the root directory. Version 4.5 of the tool does not set them: it ignores
 * `-root-time` and `-root-uid`, and gives the root of an archive the time of the tool's start and the user
 * that the tool runs as. All tables are uncompressed, and fields are little-endian.
 *
 * The table of owners has entries for the tool's own user and group. If nothing else in the image belongs to
 * these, only the root uses the entries. They can then be set to anything, and the bytes do not depend on
 * who ran the tool. This needs a group with another number than the user.
 */

/** The largest time that a squashfs can hold, in seconds. It is in the year 2106. */
export const maxTimeSeconds = 0xffff_ffff

export interface RootAttributes {
  readonly uid: number
  readonly gid: number
  readonly mtimeSeconds: number
}

/**
 * The offsets in the superblock of squashfs 4.0: of the number of owners, the root's inode, and the
 * beginnings of the tables.
 */
const idCountField = 26
const rootInodeField = 32
const idTableField = 48
const inodeTableField = 64
const superblockBytes = 96
/**
 * The bytes of a block's header. A table is a sequence of blocks: a length in two bytes, then this many
 * bytes.
 */
const blockHeaderBytes = 2
const blockBytes = 8_192
/** The offsets within any inode: of the indexes of its owners in the table of owners, and of its time. */
const uidIndexOffset = 4
const gidIndexOffset = 6
const timeOffset = 8
const idBytes = 4

/**
 * Sets the attributes of the root. `uses` says whether an entry other than the root belongs to this user or
 * group.
 */
export async function setRoot(
  file: FileHandle,
  root: RootAttributes,
  uses: (id: number) => boolean,
): Promise<void> {
  const superblock = await bytesAt(file, 0, superblockBytes)
  const inode = rootInode(superblock)
  const time = Buffer.alloc(4)
  time.writeUInt32LE(Math.min(root.mtimeSeconds, maxTimeSeconds))
  await write(file, inode(timeOffset), time)

  const id = await idTable(file, superblock)
  const uidIndex = await readIndex(file, inode(uidIndexOffset))
  const gidIndex = await readIndex(file, inode(gidIndexOffset))
  const isOneEntry = uidIndex === gidIndex && root.uid !== root.gid
  for (const { at, index, value } of [
    { at: inode(uidIndexOffset), index: uidIndex, value: root.uid },
    { at: inode(gidIndexOffset), index: gidIndex, value: root.gid },
  ]) {
    if (!isOneEntry && !uses(id.values[index] ?? 0)) {
      const bytes = Buffer.alloc(idBytes)
      bytes.writeUInt32LE(value)
      await file.write(bytes, 0, idBytes, id.place(index))
      continue
    }
    // Other entries of the image use this entry of the table as well, so it can not be changed. If the table
    // has no entry for the root's owner, the root keeps the owner that the tool gave it.
    const other = id.values.indexOf(value)
    if (other >= 0) await write(file, at, Buffer.of(other & 0xff, other >> 8))
  }
}

/**
 * Returns a function that gives the place of each byte of the root's inode. The inode may go over the end of
 * a block.
 */
function rootInode(superblock: Buffer): (field: number) => (index: number) => number {
  const root = superblock.readBigUInt64LE(rootInodeField)
  const block = Number(superblock.readBigUInt64LE(inodeTableField) + (root >> 16n))
  return (field) => (index) => {
    const offset = Number(root & 0xffffn) + field + index
    return block + offset + blockHeaderBytes * (1 + Math.floor(offset / blockBytes))
  }
}

async function idTable(
  file: FileHandle,
  superblock: Buffer,
): Promise<{ readonly values: readonly number[]; place(index: number): number }> {
  const count = superblock.readUInt16LE(idCountField)
  const perBlock = blockBytes / idBytes
  const pointers = await bytesAt(
    file,
    Number(superblock.readBigUInt64LE(idTableField)),
    8 * Math.ceil(count / perBlock),
  )
  const place = (index: number) =>
    Number(pointers.readBigUInt64LE(8 * Math.floor(index / perBlock))) +
    blockHeaderBytes +
    idBytes * (index % perBlock)
  const values: number[] = []
  for (let first = 0; first < count; first += perBlock) {
    const block = await bytesAt(file, place(first), idBytes * Math.min(perBlock, count - first))
    for (let at = 0; at < block.length; at += idBytes) values.push(block.readUInt32LE(at))
  }
  return { values, place }
}

async function readIndex(file: FileHandle, place: (index: number) => number): Promise<number> {
  const [low, high] = await Promise.all([0, 1].map((index) => bytesAt(file, place(index), 1)))
  return (low?.readUInt8(0) ?? 0) + 256 * (high?.readUInt8(0) ?? 0)
}

async function write(file: FileHandle, place: (index: number) => number, bytes: Buffer): Promise<void> {
  for (const [index, byte] of bytes.entries()) await file.write(Buffer.of(byte), 0, 1, place(index))
}

async function bytesAt(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, offset)
  if (bytesRead < length) throw new Error('the squashfs ends before its tables do')
  return buffer
}
