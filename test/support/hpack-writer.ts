/**
 * How a field stands in a block of HPACK (RFC 7541, 6.2): it is added to the table, or not, or it may never
 * be added.
 */
export const FieldForm = { Added: 0x40, Plain: 0, Never: 0x10 } as const
export type FieldForm = (typeof FieldForm)[keyof typeof FieldForm]

const prefixBits = (form: FieldForm): number => (form === FieldForm.Added ? 6 : 4)

/** Writes a number into the last `bits` bits of its first byte; `pattern` has the bits before them. */
export function hpackNumber(value: number, bits: number, pattern = 0): Buffer {
  const mask = 2 ** bits - 1
  if (value < mask) return Buffer.from([pattern | value])
  const bytes = [pattern | mask]
  let rest = value - mask
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80)
  return Buffer.from([...bytes, rest])
}

/** Writes a text without Huffman's code. */
export function hpackText(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1')
  return Buffer.concat([hpackNumber(bytes.length, 7), bytes])
}

/** Writes a text whose bytes are coded already, as if by Huffman's code. */
export function codedText(bytes: readonly number[] | Buffer): Buffer {
  return Buffer.concat([hpackNumber(bytes.length, 7, 0x80), Buffer.from(bytes)])
}

export const indexedField = (index: number): Buffer => hpackNumber(index, 7, 0x80)
export const tableSize = (bytes: number): Buffer => hpackNumber(bytes, 5, 0x20)

export function literalField(name: string, value: string, form: FieldForm = FieldForm.Plain): Buffer {
  return Buffer.concat([Buffer.from([form]), hpackText(name), hpackText(value)])
}

/** A field whose name is one of the tables; `value` is a text as `hpackText` or `codedText` writes it. */
export function namedField(index: number, value: Buffer, form: FieldForm = FieldForm.Plain): Buffer {
  return Buffer.concat([hpackNumber(index, prefixBits(form), form), value])
}

/** A block of these fields, none of which is added to the table. */
export function plainBlock(fields: readonly (readonly [name: string, value: string])[]): Buffer {
  return Buffer.concat(fields.map(([name, value]) => literalField(name, value)))
}
