import { HpackError } from './hpack-error.ts'
import { huffmanBits } from './hpack-tables.ts'

/**
 * A text is read byte by byte. A state is what was read of a code that is not complete: a node of the tree
 * of codes. For each state and byte, `steps` has the next state, up to two decoded bytes and their number.
 * The shortest code has five bits, so no byte completes a third one.
 */
const steps = new Uint32Array(256 * 256)
/** The states in which a text may end: in up to seven bits of ones, which fill its last byte. */
const mayEnd = new Uint8Array(256)

const firstShift = 8
const secondShift = 16
const countShift = 24
const wrong = 1 << 26

/** For each node what follows on 0 and on 1: another node, or the complement of a decoded byte. */
type Tree = Int32Array
const endOfText = 256
const none = 0

function codeTree(): Tree {
  const tree = new Int32Array(257 * 2)
  let nodes = 1
  let code = 0
  let bitsBefore = 0
  const symbols = [...huffmanBits.keys(), endOfText]
  const bitsOf = (symbol: number): number => huffmanBits[symbol] ?? 30
  for (const symbol of symbols.toSorted((one, other) => bitsOf(one) - bitsOf(other) || one - other)) {
    const bits = bitsOf(symbol)
    code *= 2 ** (bits - bitsBefore)
    bitsBefore = bits
    let node = 0
    for (let left = bits - 1; left > 0; left--) {
      const at = node * 2 + ((code >>> left) & 1)
      if (tree[at] === none) tree[at] = nodes++
      node = tree[at] ?? 0
    }
    tree[node * 2 + (code & 1)] = ~symbol
    code += 1
  }
  return tree
}

function fillSteps(tree: Tree): void {
  for (let state = 0; state < 256; state++) {
    for (let byte = 0; byte < 256; byte++) steps[state * 256 + byte] = stepOf(tree, state, byte)
  }
  let state = 0
  for (let ones = 0; ones <= 7; ones++) {
    mayEnd[state] = 1
    state = tree[state * 2 + 1] ?? 0
  }
}

function stepOf(tree: Tree, from: number, byte: number): number {
  let node = from
  let decoded = 0
  let count = 0
  for (let bit = 7; bit >= 0; bit--) {
    const next = tree[node * 2 + ((byte >>> bit) & 1)] ?? 0
    if (next >= 0) {
      node = next
      continue
    }
    if (~next === endOfText) return wrong
    decoded |= ~next << (count === 0 ? firstShift : secondShift)
    count += 1
    node = 0
  }
  return node | decoded | (count << countShift)
}

fillSteps(codeTree())

let decodedBytes = Buffer.alloc(4_096)

/** Decodes a text. Throws `HpackError` if it is not valid. */
export function decodeHuffman(bytes: Buffer, from: number, to: number): string {
  const most = Math.ceil(((to - from) * 8) / 5)
  if (most > decodedBytes.length) decodedBytes = Buffer.alloc(most)
  let state = 0
  let length = 0
  for (let at = from; at < to; at++) {
    const step = steps[state * 256 + (bytes[at] ?? 0)] ?? wrong
    if (step >= wrong) throw new HpackError('a text says that it is over')
    if (step >>> countShift > 0) {
      decodedBytes[length++] = step >>> firstShift
      if (step >>> countShift > 1) decodedBytes[length++] = step >>> secondShift
    }
    state = step & 0xff
  }
  if (mayEnd[state] === 0) throw new HpackError('a text does not end as it must')
  return decodedBytes.toString('latin1', 0, length)
}
