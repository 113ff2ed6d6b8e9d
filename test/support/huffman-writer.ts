import { huffmanBits } from '../../src/gateway/http/http2/hpack-tables.ts'

/** The code of each byte, as the digits 0 and 1. */
const codes: readonly string[] = codesOf(huffmanBits)

function codesOf(bits: readonly number[]): string[] {
  const made: string[] = []
  let code = 0
  let before = 0
  const order = [...bits.keys()].toSorted(
    (one, other) => (bits[one] ?? 0) - (bits[other] ?? 0) || one - other,
  )
  for (const byte of order) {
    const count = bits[byte] ?? 0
    code *= 2 ** (count - before)
    before = count
    made[byte] = code.toString(2).padStart(count, '0')
    code += 1
  }
  return made
}

/** Writes bytes in the Huffman code of RFC 7541. What is left of the last byte is filled with ones. */
export function huffman(text: string): Buffer {
  let digits = ''
  for (const byte of Buffer.from(text, 'latin1')) digits += codes[byte] ?? ''
  digits = digits.padEnd(Math.ceil(digits.length / 8) * 8, '1')
  const bytes = Buffer.alloc(digits.length / 8)
  for (let at = 0; at < bytes.length; at += 1)
    bytes[at] = Number.parseInt(digits.slice(at * 8, at * 8 + 8), 2)
  return bytes
}
