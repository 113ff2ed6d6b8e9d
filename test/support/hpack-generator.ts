import { staticFields } from '../../src/gateway/http/http2/hpack-tables.ts'
import { codedText, hpackNumber, hpackText, indexedField, tableSize } from './hpack-writer.ts'
import { huffman } from './huffman-writer.ts'
import type { Tape } from './tape.ts'

const overheadBytes = 32
const tableBytes = 4_096
const staticCount = staticFields.length / 2

/** Writes blocks of HPACK in all the ways that there are. A tape chooses among them. */
export class HpackGenerator {
  readonly #tape: Tape
  #dynamic: (readonly [name: string, value: string])[] = []
  #limitBytes = tableBytes

  constructor(tape: Tape) {
    this.#tape = tape
  }

  block(fields: readonly (readonly [name: string, value: string])[]): Buffer {
    const parts: Buffer[] = []
    for (let updates = this.#tape.oneIn(8) ? 1 + this.#tape.below(2) : 0; updates > 0; updates--) {
      this.#limitBytes = this.#tape.below(tableBytes + 1)
      this.#evict()
      parts.push(tableSize(this.#limitBytes))
    }
    for (const [name, value] of fields) parts.push(this.#field(name, value))
    return Buffer.concat(parts)
  }

  #field(name: string, value: string): Buffer {
    const form = this.#tape.below(6)
    const index = form < 3 ? this.#indexOf(name, value) : 0
    if (index > 0) return indexedField(index)
    if (form === 5) return this.#literal(name, value, 4, 0x10)
    if (form === 4) return this.#literal(name, value, 4, 0)
    const literal = this.#literal(name, value, 6, 0x40)
    this.#dynamic.unshift([name, value])
    this.#evict()
    return literal
  }

  #literal(name: string, value: string, bits: number, pattern: number): Buffer {
    const index = this.#tape.oneIn(3) ? 0 : this.#indexOf(name)
    const start = hpackNumber(index, bits, pattern)
    return Buffer.concat(
      index > 0 ? [start, this.#text(value)] : [start, this.#text(name), this.#text(value)],
    )
  }

  #text(text: string): Buffer {
    return this.#tape.below(2) === 0 ? hpackText(text) : codedText(huffman(text))
  }

  #indexOf(name: string, value?: string): number {
    const found = this.#dynamic.findIndex(([one, other]) => one === name && (value ?? other) === other)
    if (found >= 0) return staticCount + 1 + found
    for (let at = 0; at < staticFields.length; at += 2) {
      if (staticFields[at] === name && (value ?? staticFields[at + 1]) === staticFields[at + 1])
        return at / 2 + 1
    }
    return 0
  }

  #evict(): void {
    let bytes = 0
    this.#dynamic = this.#dynamic.filter(([name, value]) => {
      bytes += name.length + value.length + overheadBytes
      return bytes <= this.#limitBytes
    })
  }
}
