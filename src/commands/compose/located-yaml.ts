import { LineCounter, isAlias, isMap, isScalar, isSeq, parseDocument } from 'yaml'
import type { Document, Pair, YAMLMap } from 'yaml'
import type { Findings, Place } from './findings.ts'

/** A value of a YAML file, with the line on which it stands. */
export type Located = LocatedScalar | LocatedList | LocatedMap

export interface LocatedScalar extends Place {
  readonly kind: 'scalar'
  /** The text, as written or after its variables were put in. Null if nothing is written. */
  readonly text: string | null
  /** The text as it was written. Messages show it, because the other one may hold secrets. */
  readonly written: string
}
export interface LocatedList extends Place {
  readonly kind: 'list'
  readonly items: readonly Located[]
}
export interface LocatedMap extends Place {
  readonly kind: 'map'
  readonly entries: ReadonlyMap<string, LocatedEntry>
}
export interface LocatedEntry extends Place {
  /** The line of the key; `value` has that of the value. */
  readonly value: Located
}

/** The most values of a file once its aliases are put in. A few lines of aliases could make billions. */
export const maxValues = 20_000
/** The deepest nesting. Compose files have about six levels. */
const maxDepth = 30

/** Reads a YAML file. Everything that is wrong with it becomes a refusal; the value is undefined then. */
export function readLocated(text: string, file: string, findings: Findings): Located | undefined {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, version: '1.2', prettyErrors: false })
  const wrong = [...document.errors, ...document.warnings]
  for (const { pos, message } of wrong) findings.refuse({ file, line: lines.linePos(pos[0]).line }, message)
  if (wrong.length > 0) return undefined
  try {
    return new Locator(document, { file, lines }).located(document.contents, { file, line: 1 }, 0)
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    findings.refuse(error.place, error.message)
    return undefined
  }
}

class Unreadable extends Error {
  readonly place: Place
  constructor(place: Place, message: string) {
    super(message)
    this.place = place
  }
}

/** Turns the nodes of a document into values with lines, with aliases and merges put in. */
class Locator {
  readonly #document: Document
  readonly #file: string
  readonly #lines: LineCounter
  #values = 0

  constructor(document: Document, { file, lines }: { readonly file: string; readonly lines: LineCounter }) {
    this.#document = document
    this.#file = file
    this.#lines = lines
  }

  located(node: unknown, around: Place, depth: number): Located {
    const place = this.#placeOf(node, around)
    this.#values += 1
    if (this.#values > maxValues) {
      throw new Unreadable(place, `the file has more than ${maxValues} values with its aliases put in`)
    }
    if (depth > maxDepth) throw new Unreadable(place, `it is nested deeper than ${maxDepth} levels`)
    if (isAlias(node)) {
      const target = node.resolve(this.#document)
      if (target === undefined) throw new Unreadable(place, `the anchor '${node.source}' is not known`)
      return this.located(target, place, depth + 1)
    }
    if (isSeq(node)) {
      const items = node.items.map((item) => this.located(item, place, depth + 1))
      return { kind: 'list', items, ...place }
    }
    if (isMap(node)) return { kind: 'map', entries: this.#entriesOf(node, place, depth), ...place }
    return { kind: 'scalar', ...scalarText(node), ...place }
  }

  #entriesOf(map: YAMLMap, around: Place, depth: number): ReadonlyMap<string, LocatedEntry> {
    const own = new Map<string, LocatedEntry>()
    const merged = new Map<string, LocatedEntry>()
    for (const { key, value } of map.items as readonly Pair[]) {
      const place = this.#placeOf(key, around)
      if (!isScalar(key)) throw new Unreadable(place, 'a key has to be a plain text')
      const found = this.located(value, place, depth + 1)
      if (key.value !== '<<') {
        own.set(scalarText(key).text ?? '', { value: found, ...place })
        continue
      }
      const sources = found.kind === 'list' ? found.items : [found]
      for (const source of sources) {
        if (source.kind !== 'map') throw new Unreadable(place, "'<<' takes a mapping, or a list of mappings")
        // Of several mappings the first one counts.
        for (const [name, entry] of source.entries) if (!merged.has(name)) merged.set(name, entry)
      }
    }
    return new Map([...merged, ...own])
  }

  #placeOf(node: unknown, around: Place): Place {
    const range = typeof node === 'object' && node !== null && 'range' in node ? node.range : undefined
    const [start] = Array.isArray(range) ? (range as readonly number[]) : []
    return { file: this.#file, line: start === undefined ? around.line : this.#lines.linePos(start).line }
  }
}

/** Numbers and truth values are kept as they are written, such as `0755` and `1.50`. */
function scalarText(node: unknown): { readonly text: string | null; readonly written: string } {
  if (!isScalar(node) || node.value === null || node.value === undefined) return { text: null, written: '' }
  const text = typeof node.value === 'string' ? node.value : (node.source ?? JSON.stringify(node.value))
  return { text, written: text }
}
