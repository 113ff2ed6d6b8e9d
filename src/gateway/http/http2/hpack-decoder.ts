import { HpackError } from './hpack-error.ts'
import { staticFields } from './hpack-tables.ts'
import { decodeHuffman } from './huffman.ts'

const staticCount = staticFields.length / 2
/** What each field counts beyond its name and value, in the table and in a list (RFC 7541, 4.1). */
const overheadBytes = 32
/** The most bytes of a number beyond its first one. */
const maxNumberBytes = 5

/**
 * Decodes the blocks of fields of one connection (HPACK, RFC 7541). Names and values are texts in which each
 * character is one byte. Whether they are allowed in HTTP is not examined here.
 */
export class HpackDecoder {
  readonly #maxTableBytes: number
  /** The size that the other side has chosen, up to `#maxTableBytes`. */
  #tableLimitBytes: number
  #tableBytes = 0
  /** The dynamic table: name, value, name, value; the oldest first, which begins at `#oldest`. */
  #entries: string[] = []
  #oldest = 0
  #block: Buffer = Buffer.alloc(0)
  #at = 0

  constructor({ maxTableBytes }: { readonly maxTableBytes: number }) {
    this.#maxTableBytes = maxTableBytes
    this.#tableLimitBytes = maxTableBytes
  }

  /**
   * Returns a flat list: name, value, name, value. If the list is larger than `maxBytes`, it is not kept,
   * but the block is read to its end, because the next block builds on it. Throws `HpackError`.
   */
  decode(block: Buffer, maxBytes: number): string[] | 'too-large' {
    this.#block = block
    this.#at = 0
    const fields: string[] = []
    let bytes = 0
    while (this.#at < block.length) {
      const first = block[this.#at] ?? 0
      if (first >= 0x20 && first < 0x40) {
        if (bytes > 0) throw new HpackError('a size update stands after a field')
        this.#resize(this.#number(0x1f))
        continue
      }
      const before = fields.length
      this.#field(first, fields)
      bytes += (fields[before]?.length ?? 0) + (fields[before + 1]?.length ?? 0) + overheadBytes
      if (bytes > maxBytes) fields.length = 0
    }
    this.#block = emptyBlock
    return bytes > maxBytes ? 'too-large' : fields
  }

  #field(first: number, fields: string[]): void {
    if (first >= 0x80) {
      const index = this.#number(0x7f)
      fields.push(this.#name(index), this.#value(index))
      return
    }
    const indexed = first >= 0x40
    const index = this.#number(indexed ? 0x3f : 0x0f)
    const name = index === 0 ? this.#text() : this.#name(index)
    const value = this.#text()
    fields.push(name, value)
    if (indexed) this.#insert(name, value)
  }

  #name(index: number): string {
    if (index <= staticCount) return staticFields[index * 2 - 2] ?? this.#unknown(index)
    return this.#entries[this.#entryAt(index)] ?? this.#unknown(index)
  }

  #value(index: number): string {
    if (index <= staticCount) return staticFields[index * 2 - 1] ?? this.#unknown(index)
    return this.#entries[this.#entryAt(index) + 1] ?? this.#unknown(index)
  }

  /** The newest entry has the first index after the static table. */
  #entryAt(index: number): number {
    const at = this.#entries.length - (index - staticCount) * 2
    return at < this.#oldest ? this.#unknown(index) : at
  }

  #unknown(index: number): never {
    throw new HpackError(`no field has the index ${index}`)
  }

  #text(): string {
    const coded = (this.#block[this.#at] ?? 0) >= 0x80
    const length = this.#number(0x7f)
    const from = this.#at
    this.#at += length
    if (this.#at > this.#block.length) throw new HpackError('a text is longer than its block')
    return coded ? decodeHuffman(this.#block, from, this.#at) : this.#block.toString('latin1', from, this.#at)
  }

  /** Reads a number whose first bits are those of `mask` in the byte at hand. */
  #number(mask: number): number {
    let value = this.#byte() & mask
    if (value < mask) return value
    for (let count = 0; count < maxNumberBytes; count++) {
      const byte = this.#byte()
      value += (byte & 0x7f) * 2 ** (7 * count)
      if (byte < 0x80) return value
    }
    throw new HpackError('a number is too large')
  }

  #byte(): number {
    const byte = this.#block[this.#at]
    if (byte === undefined) throw new HpackError('the block ends within a field')
    this.#at += 1
    return byte
  }

  #resize(limitBytes: number): void {
    if (limitBytes > this.#maxTableBytes) throw new HpackError('the table would be larger than allowed')
    this.#tableLimitBytes = limitBytes
    this.#evict()
  }

  #insert(name: string, value: string): void {
    this.#entries.push(name, value)
    this.#tableBytes += name.length + value.length + overheadBytes
    this.#evict()
  }

  #evict(): void {
    while (this.#tableBytes > this.#tableLimitBytes) {
      const name = this.#entries[this.#oldest] ?? ''
      const value = this.#entries[this.#oldest + 1] ?? ''
      this.#tableBytes -= name.length + value.length + overheadBytes
      this.#oldest += 2
    }
    // The places of evicted entries are given back when they are most of the list.
    if (this.#oldest * 2 <= this.#entries.length) return
    this.#entries = this.#entries.slice(this.#oldest)
    this.#oldest = 0
  }
}

const emptyBlock = Buffer.alloc(0)
