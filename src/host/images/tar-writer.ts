import { tarBlockBytes, TarKind } from './tar-entry.ts'
import type { TarEntry } from './tar-entry.ts'

const zeros = Buffer.alloc(tarBlockBytes)
const typeFlags = {
  [TarKind.File]: '0',
  [TarKind.HardLink]: '1',
  [TarKind.Symlink]: '2',
  [TarKind.Device]: '3',
  [TarKind.Directory]: '5',
  [TarKind.Fifo]: '6',
} as const satisfies Record<TarKind, string>

const maxNameBytes = 100

/** The end of an archive: two blocks of zeros. */
export const tarEnd = Buffer.alloc(2 * tarBlockBytes)

/**
 * The header blocks of an entry. They begin with a pax extension if a name is long or there are extended
 * attributes.
 */
export function tarHeader(entry: TarEntry): Buffer {
  const records = [...entry.xattrs].map(([key, value]) => paxRecord(`SCHILY.xattr.${key}`, value))
  if (entry.name.length > maxNameBytes) records.push(paxRecord('path', Buffer.from(entry.name, 'latin1')))
  if (entry.linkName.length > maxNameBytes) {
    records.push(paxRecord('linkpath', Buffer.from(entry.linkName, 'latin1')))
  }
  const header = headerBlock(entry, typeFlags[entry.kind])
  if (records.length === 0) return header
  const body = Buffer.concat(records)
  const extension = headerBlock({ ...entry, name: 'pax', linkName: '', size: body.length }, 'x')
  return Buffer.concat([extension, body, tarPadding(body.length), header])
}

/** The padding behind content of this size. */
export function tarPadding(size: number): Buffer {
  return zeros.subarray(0, (tarBlockBytes - (size % tarBlockBytes)) % tarBlockBytes)
}

function headerBlock(entry: Omit<TarEntry, 'kind' | 'xattrs'>, type: string): Buffer {
  const block = Buffer.alloc(tarBlockBytes)
  block.write(entry.name.slice(0, maxNameBytes), 0, 'latin1')
  writeNumber(block, { at: 100, length: 8, value: entry.mode })
  writeNumber(block, { at: 108, length: 8, value: entry.uid })
  writeNumber(block, { at: 116, length: 8, value: entry.gid })
  writeNumber(block, { at: 124, length: 12, value: entry.size })
  writeNumber(block, { at: 136, length: 12, value: entry.mtimeSeconds })
  block.write(type, 156, 'latin1')
  block.write(entry.linkName.slice(0, maxNameBytes), 157, 'latin1')
  block.write('ustar\x0000', 257, 'latin1')
  block.fill(' ', 148, 156)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return block
}

function writeNumber(block: Buffer, field: { at: number; length: number; value: number }): void {
  const digits = field.value.toString(8)
  if (digits.length < field.length) {
    block.write(`${digits.padStart(field.length - 1, '0')}\0`, field.at, 'latin1')
    return
  }
  block.writeUIntBE(field.value, field.at + field.length - 6, 6)
  block[field.at] = 0x80
}

/** A record of a pax extension: `<length> <key>=<value>\n`, where the length includes its own digits. */
function paxRecord(key: string, value: Buffer): Buffer {
  const rest = Buffer.concat([Buffer.from(` ${key}=`, 'latin1'), value, Buffer.from('\n')])
  let length = rest.length + 1
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length
  return Buffer.concat([Buffer.from(String(length)), rest])
}
