import { FieldForm, codedText, hpackText, indexedField, namedField, tableSize } from './hpack-writer.ts'
import { huffman } from './huffman-writer.ts'
import { mutated } from './mutated-bytes.ts'
import type { Tape } from './tape.ts'

const names: readonly [string, ...string[]] = [
  'x',
  'accept',
  'cookie',
  'x-a-name-that-is-longer-than-most',
  'content-type',
  'user-agent',
  'te',
  'x_y!#$',
  'host',
  'content-length',
  'connection',
  'X-Upper',
  '',
  'x y',
  ':path',
  ':unknown',
]
/** The first of the names above are valid. Only one in some blocks has another one. */
const validNames = 6

const values: readonly [string, ...string[]] = [
  '',
  'a',
  'hello, world',
  'text/html; q=0.9, */*',
  '0123456789',
  '{"a": "\\~|<>`"}',
  '\xe4\xf6\xfc\xff\x80',
  'a\tb',
]
const invalidValues: readonly [string, ...string[]] = ['a\0', 'a\nb', ' a', 'a ', '\x7f', '\r']

const forms: readonly [FieldForm, ...FieldForm[]] = [FieldForm.Plain, FieldForm.Added, FieldForm.Never]

/** The first and the last field of the static table that requests have, beyond pseudo fields. */
const firstStatic = 15
const lastStatic = 61

/** What a field of the table is good for. */
type Kind = ':method' | ':scheme' | ':path' | ':authority' | 'field' | 'odd'

const pseudoIndexes = { ':method': 2, ':scheme': 7, ':path': 4, ':authority': 1 } as const
const pseudoKinds = [':method', ':scheme', ':path', ':authority'] as const
type PseudoKind = (typeof pseudoKinds)[number]

const overheadBytes = 32
const largestTable = 4_096

/**
 * Blocks of fields of one connection, each of which may use what those before have put into the table. The
 * grammar follows the table as the reader has it. It does not follow what a damaged block does to it.
 */
export class BlockGrammar {
  readonly #tape: Tape
  /** The fields of the table, the newest first. */
  #table: { readonly kind: Kind; readonly bytes: number }[] = []
  #tableLimit = largestTable
  /** Whether the block at hand has what no request may have. */
  #isOdd = false
  /** Whether there was a block that is damaged, or has what no request may have. */
  hasOdd = false

  constructor(tape: Tape) {
    this.#tape = tape
  }

  /** A block for a request. One in some blocks is damaged, or has fields that no request may have. */
  block(): Buffer {
    const tape = this.#tape
    const parts: Buffer[] = []
    while (tape.oneIn(12)) parts.push(this.#resize())
    this.#isOdd = tape.oneIn(12)
    this.hasOdd ||= this.#isOdd
    parts.push(...this.#pseudo(), ...this.#fields(tape.below(8)))
    const block = Buffer.concat(parts)
    if (!tape.oneIn(40)) return block
    this.hasOdd = true
    return mutated(block, tape)
  }

  /** A block of trailers. */
  trailers(): Buffer {
    this.#isOdd = this.#tape.oneIn(12)
    this.hasOdd ||= this.#isOdd
    return Buffer.concat(this.#fields(1 + this.#tape.below(3)))
  }

  #fields(count: number): Buffer[] {
    return Array.from({ length: count }, () => this.#field())
  }

  #resize(): Buffer {
    const tape = this.#tape
    if (tape.oneIn(100)) {
      this.hasOdd = true
      return tableSize(largestTable + 1 + tape.below(60_000))
    }
    const size = tape.pick([largestTable, 0, 40, 100, 300, tape.below(largestTable + 1)])
    this.#tableLimit = size
    this.#evict()
    return tableSize(size)
  }

  #pseudo(): Buffer[] {
    const tape = this.#tape
    const all = pseudoKinds.map((kind) => this.#pseudoField(kind))
    if (tape.oneIn(4)) all.reverse()
    if (this.#isOdd && tape.oneIn(3)) all.splice(tape.below(4), 1)
    if (this.#isOdd && tape.oneIn(3)) all.push(this.#pseudoField(':method'))
    return all
  }

  #pseudoField(kind: PseudoKind): Buffer {
    const tape = this.#tape
    const known = tape.oneIn(2) ? this.#inTable(kind) : undefined
    if (known !== undefined) return indexedField(known)
    switch (kind) {
      case ':method':
        if (!tape.oneIn(6)) return indexedField(2 + tape.below(2))
        return this.#literal(kind, tape.pick(['PUT', 'GET', 'DELETE']))
      case ':scheme':
        return tape.oneIn(6) ? this.#literal(kind, 'https') : indexedField(6 + tape.below(2))
      case ':path':
        if (!tape.oneIn(2)) return indexedField(4 + tape.below(2))
        return this.#literal(
          kind,
          `/${this.#value()}`.replaceAll(this.#isOdd ? /[ \t#]/g : /[^\x21-\x7e]|#/g, '-'),
        )
      case ':authority':
        return this.#literal(kind, 'app.test')
    }
  }

  #field(): Buffer {
    const tape = this.#tape
    switch (tape.below(4)) {
      case 0:
        return this.#fieldNamed(tape.pick([19, 32, 58, 51, 16, 24]))
      case 1:
        return this.#namedField()
      case 2: {
        const known = this.#isOdd ? this.#anyInTable() : this.#inTable('field')
        if (known === undefined) return this.#namedField()
        return tape.oneIn(4) ? this.#fieldNamed(known) : indexedField(known)
      }
      default:
        return indexedField(
          this.#isOdd
            ? firstStatic + tape.below(lastStatic - firstStatic + 1)
            : tape.pick([16, 19, 17, 32, 51, 58, 60]),
        )
    }
  }

  #anyInTable(): number {
    const beyond = this.#tape.oneIn(8) ? 1 : 0
    return lastStatic + 1 + this.#tape.below(Math.max(1, this.#table.length + beyond))
  }

  /** The index of one of the fields of this kind. */
  #inTable(kind: Kind): number | undefined {
    const indexes = this.#table.flatMap((entry, at) => (entry.kind === kind ? [lastStatic + 1 + at] : []))
    return indexes.length === 0 ? undefined : indexes[this.#tape.below(indexes.length)]
  }

  #namedField(): Buffer {
    const tape = this.#tape
    const name = names[tape.below(this.#isOdd ? names.length : validNames)] ?? 'x'
    const value = this.#value()
    const form = this.#form(this.#isOdd ? 'odd' : 'field', name.length + value.length)
    return Buffer.concat([Buffer.from([form]), this.#text(name), this.#text(value)])
  }

  #fieldNamed(index: number): Buffer {
    const value = this.#value()
    return namedField(index, this.#text(value), this.#form(this.#isOdd ? 'odd' : 'field', 12 + value.length))
  }

  #literal(kind: PseudoKind, value: string): Buffer {
    return namedField(pseudoIndexes[kind], this.#text(value), this.#form(kind, kind.length + value.length))
  }

  #form(kind: Kind, bytes: number): FieldForm {
    const form = this.#tape.pick(forms)
    if (form === FieldForm.Added) {
      this.#table.unshift({ kind, bytes: bytes + overheadBytes })
      this.#evict()
    }
    return form
  }

  #evict(): void {
    let bytes = 0
    const kept = this.#table.findIndex((entry) => {
      bytes += entry.bytes
      return bytes > this.#tableLimit
    })
    if (kept >= 0) this.#table.length = kept
  }

  #value(): string {
    const tape = this.#tape
    if (this.#isOdd && tape.oneIn(4)) return tape.pick(invalidValues)
    const value = tape.pick(values)
    if (tape.oneIn(20)) return value.repeat(1 + tape.below(300)).slice(0, 3_000)
    // Every byte that a value may have, each in turn: all of them have a Huffman code of their own.
    return tape.oneIn(6)
      ? value + String.fromCharCode(0x80 + tape.below(0x80), 0x21 + tape.below(0x5e))
      : value
  }

  #text(text: string): Buffer {
    return this.#tape.oneIn(2) ? codedText(huffman(text)) : hpackText(text)
  }
}
