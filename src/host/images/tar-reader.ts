import { ByteSource } from './byte-source.ts'
import { LayerError, printable, tarBlockBytes, TarKind } from './tar-entry.ts'
import type { TarEntry } from './tar-entry.ts'

/**
 * A member of an archive, read from the formats that layers have: POSIX (ustar, pax) and GNU.
 *
 * The reader is our own because layers are hostile. It bounds the memory of an extension header, keeps names
 * and extended attributes as the bytes they are, and refuses what it does not know instead of guessing.
 */
export interface TarMember {
  readonly entry: TarEntry
  /** The position of the member within the archive, counted from 0. */
  readonly ordinal: number
  /** The content. The part that is not read is skipped when the next member is asked for. */
  content(): AsyncGenerator<Buffer>
}

/**
 * The most bytes of an extension header (long names, extended attributes). Real ones have some hundred
 * bytes.
 */
const maxExtensionBytes = 1024 * 1024
/**
 * The most extension headers before one entry, and the most lines in one of them. Real archives have up to
 * three headers and some ten lines.
 */
const maxExtensionsPerEntry = 16
const maxPaxRecords = 1_024
/** The most bytes of content that are given to the reader in one piece. */
const contentPieceBytes = 1024 * 1024

export async function* readTar(chunks: AsyncIterable<Buffer>): AsyncGenerator<TarMember> {
  const source = new ByteSource(chunks)
  let extension: Extension = noExtension
  let extensions = 0
  let ordinal = 0
  for (;;) {
    const block = await source.exactly(tarBlockBytes)
    // A block of zeros ends the archive. So does the end of the stream: many writers leave the block out.
    if (block === undefined || block.every((byte) => byte === 0)) return
    const header = readHeader(block)
    if (extensionTypes.has(header.type)) {
      extensions += 1
      if (extensions > maxExtensionsPerEntry) {
        throw new LayerError(`an entry has more than ${maxExtensionsPerEntry} extension headers`)
      }
      extension = await readExtension(source, header, extension)
      continue
    }
    const entry = toEntry(header, extension)
    extension = noExtension
    extensions = 0
    let unread = entry.size
    yield {
      entry,
      ordinal: ordinal++,
      async *content() {
        while (unread > 0) {
          const piece = await source.some(Math.min(unread, contentPieceBytes))
          if (piece === undefined) throw new LayerError('the archive ends in the middle of a file')
          unread -= piece.length
          yield piece
        }
      },
    }
    await source.skip(unread + paddingOf(entry.size))
  }
}

function paddingOf(size: number): number {
  return (tarBlockBytes - (size % tarBlockBytes)) % tarBlockBytes
}

interface Header extends Omit<TarEntry, 'kind' | 'xattrs'> {
  readonly type: string
}

function readHeader(block: Buffer): Header {
  if (!hasValidChecksum(block)) throw new LayerError('the archive is damaged: an entry has a wrong checksum')
  const prefix = block.toString('latin1', 257, 262) === 'ustar' ? prefixOf(block) : ''
  const name = text(block, 0, 100)
  return {
    name: prefix === '' ? name : `${prefix}/${name}`,
    type: String.fromCharCode(block[156] ?? 0),
    mode: number(block, 100, 8) & 0o7777,
    uid: number(block, 108, 8),
    gid: number(block, 116, 8),
    size: number(block, 124, 12),
    mtimeSeconds: number(block, 136, 12),
    linkName: text(block, 157, 100),
  }
}

/**
 * The first part of a long name. GNU archives have times at this place. A blank after `ustar` marks such
 * archives.
 */
function prefixOf(block: Buffer): string {
  return block.toString('latin1', 262, 264) === ' \0' ? '' : text(block, 345, 155)
}

function hasValidChecksum(block: Buffer): boolean {
  let sum = 8 * 32
  for (let at = 0; at < tarBlockBytes; at++) if (at < 148 || at >= 156) sum += block[at] ?? 0
  return sum === number(block, 148, 8)
}

function text(block: Buffer, start: number, length: number): string {
  const field = block.subarray(start, start + length)
  const end = field.indexOf(0)
  return field.toString('latin1', 0, end < 0 ? length : end)
}

/** Reads a number: octal digits or, if these do not suffice, a big-endian number marked by its first bit. */
function number(block: Buffer, start: number, length: number): number {
  const first = block[start] ?? 0
  if ((first & 0x80) === 0) {
    const digits = text(block, start, length).trim()
    if (!/^[0-7]*$/.test(digits)) throw new LayerError('the archive is damaged: a number is not octal')
    return digits === '' ? 0 : Number.parseInt(digits, 8)
  }
  // The number is negative, so it is read as 0. Only times before 1970 are negative, and nobody needs them.
  if ((first & 0x40) !== 0) return 0
  let value = first & 0x3f
  for (let at = start + 1; at < start + length; at++) value = value * 256 + (block[at] ?? 0)
  if (!Number.isSafeInteger(value)) throw new LayerError('the archive is damaged: a number is too large')
  return value
}

/** What the extension headers before an entry say about it. */
interface Extension {
  readonly name?: string
  readonly linkName?: string
  readonly size?: number
  readonly uid?: number
  readonly gid?: number
  readonly mtimeSeconds?: number
  readonly xattrs: ReadonlyMap<string, Buffer>
}
const noExtension: Extension = { xattrs: new Map() }
const extensionTypes = new Set(['x', 'g', 'L', 'K'])

async function readExtension(source: ByteSource, header: Header, before: Extension): Promise<Extension> {
  if (header.size > maxExtensionBytes) {
    throw new LayerError(`an extension header of ${header.size} bytes is over ${maxExtensionBytes}`)
  }
  const bytes = header.size === 0 ? Buffer.alloc(0) : await source.exactly(header.size)
  if (bytes === undefined) throw new LayerError('the archive ends in the middle of an entry')
  await source.skip(paddingOf(header.size))
  if (header.type === 'L') return { ...before, name: text(bytes, 0, bytes.length) }
  if (header.type === 'K') return { ...before, linkName: text(bytes, 0, bytes.length) }
  // A header for the whole archive holds comments only, so it is ignored. Container tools ignore it too.
  return header.type === 'x' ? readPax(bytes, before) : before
}

function readPax(bytes: Buffer, before: Extension): Extension {
  const xattrs = new Map<string, Buffer>()
  let extension: Extension = { ...before, xattrs }
  let records = 0
  for (let at = 0; at < bytes.length;) {
    records += 1
    if (records > maxPaxRecords) throw new LayerError(`an extension header has over ${maxPaxRecords} records`)
    const blank = bytes.indexOf(0x20, at)
    const length = Number(bytes.toString('latin1', at, blank))
    const equals = bytes.indexOf(0x3d, blank)
    const end = at + length - 1
    if (blank < 0 || !Number.isSafeInteger(length) || equals < 0 || equals >= end || end >= bytes.length) {
      throw new LayerError('the archive is damaged: an extension header can not be read')
    }
    const key = bytes.toString('latin1', blank + 1, equals)
    const value = bytes.subarray(equals + 1, end)
    if (key.startsWith(xattrPrefix)) xattrs.set(key.slice(xattrPrefix.length), Buffer.from(value))
    else extension = { ...extension, ...paxField(key, value.toString('latin1')) }
    at = end + 1
  }
  return extension
}

const xattrPrefix = 'SCHILY.xattr.'

function paxField(key: string, value: string): Partial<Extension> {
  if (key.startsWith('GNU.sparse.')) throw new LayerError('sparse archive entries are not supported')
  switch (key) {
    case 'path':
      return { name: value }
    case 'linkpath':
      return { linkName: value }
    case 'size':
      return { size: paxNumber(key, value) }
    case 'uid':
      return { uid: paxNumber(key, value) }
    case 'gid':
      return { gid: paxNumber(key, value) }
    case 'mtime':
      return { mtimeSeconds: Math.max(0, Math.floor(Number(value)) || 0) }
    default:
      return {}
  }
}

function paxNumber(key: string, value: string): number {
  const parsed = Number(value)
  if (!/^\d+$/.test(value) || !Number.isSafeInteger(parsed)) {
    throw new LayerError(`the archive is damaged: '${key}' is not a number`)
  }
  return parsed
}

const kinds: Readonly<Record<string, TarKind>> = {
  '0': TarKind.File,
  '\0': TarKind.File,
  '7': TarKind.File,
  '1': TarKind.HardLink,
  '2': TarKind.Symlink,
  '3': TarKind.Device,
  '4': TarKind.Device,
  '5': TarKind.Directory,
  '6': TarKind.Fifo,
}

function toEntry(header: Header, { name, linkName, ...extension }: Extension): TarEntry {
  const { type, ...fields } = header
  const merged = { ...fields, ...extension, name: name ?? header.name, linkName: linkName ?? header.linkName }
  const kind = kinds[type]
  if (kind === undefined) {
    throw new LayerError(`the entry ${printable(merged.name)} has the unknown type ${printable(type)}`)
  }
  // Before ustar, a directory was a file whose name ends with a slash.
  if (kind === TarKind.File && merged.name.endsWith('/'))
    return { ...merged, kind: TarKind.Directory, size: 0 }
  return { ...merged, kind, size: kind === TarKind.File ? merged.size : 0 }
}
