import { staticFields } from './hpack-tables.ts'

/**
 * The first block of a connection begins with this: the encoder uses no table of its own, of no size. So no
 * later setting of the other side concerns it, and no block depends on an earlier one.
 */
export const noTable = '\x20'

const nameIndexes = new Map<string, number>()
const fieldIndexes = new Map<string, number>()
for (let at = 0; at < staticFields.length; at += 2) {
  const [name = '', value = ''] = staticFields.slice(at, at + 2)
  const index = at / 2 + 1
  if (!nameIndexes.has(name)) nameIndexes.set(name, index)
  fieldIndexes.set(`${name}: ${value}`, index)
}

/** The first bytes of the fields with these names. Instances send the same names again and again. */
const starts = new Map<string, string>()
const maxStarts = 1_024
/** Longer names are not kept, so that what is kept has a bound. */
const maxKeptBytes = 64

/**
 * Encodes fields, a flat list, as a block of HPACK (RFC 7541). Each character of the result is one byte.
 * Names must be in lower case.
 */
export function encodeFields(fields: readonly string[]): string {
  let block = ''
  for (let at = 0; at < fields.length; at += 2) {
    const value = fields[at + 1] ?? ''
    block += startOf(fields[at] ?? '') + number(value.length, 0x7f, 0) + value
  }
  return block
}

/** Encodes `:status`. */
export function encodeStatus(status: number): string {
  const index = fieldIndexes.get(`:status: ${status}`)
  return index === undefined
    ? `${startOf(':status')}\x03${String(status).padStart(3, '0')}`
    : number(index, 0x7f, 0x80)
}

function startOf(name: string): string {
  const known = starts.get(name)
  if (known !== undefined) return known
  const index = nameIndexes.get(name)
  const start = index === undefined ? `\0${number(name.length, 0x7f, 0)}${name}` : number(index, 0x0f, 0)
  if (name.length > maxKeptBytes) return start
  if (starts.size >= maxStarts) starts.clear()
  starts.set(name, start)
  return start
}

/** Writes a number in the bits of `mask`; `pattern` has the other bits of its first byte. */
function number(value: number, mask: number, pattern: number): string {
  if (value < mask) return String.fromCharCode(pattern | value)
  let text = String.fromCharCode(pattern | mask)
  let rest = value - mask
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) text += String.fromCharCode((rest % 0x80) | 0x80)
  return text + String.fromCharCode(rest)
}
