import type { Findings, Place } from './findings.ts'
import type { Located, LocatedEntry, LocatedList, LocatedMap, LocatedScalar } from './located-yaml.ts'

/** The most characters of what was written that a message repeats. */
const maxShown = 60

/**
 * Reads values, and refuses what is not of the expected form. Undefined means that there is no usable
 * value.
 */
export class Reader {
  readonly findings: Findings

  constructor(findings: Findings) {
    this.findings = findings
  }

  refuse(place: Place, text: string): undefined {
    this.findings.refuse(place, text)
    return undefined
  }

  map(value: Located, what: string): LocatedMap | undefined {
    return value.kind === 'map' ? value : this.refuse(value, `${what} has to be a mapping`)
  }

  list(value: Located, what: string): LocatedList | undefined {
    return value.kind === 'list' ? value : this.refuse(value, `${what} has to be a list`)
  }

  scalar(value: Located, what: string): LocatedScalar | undefined {
    return value.kind === 'scalar' ? value : this.refuse(value, `${what} has to be a single value`)
  }

  text(value: Located, what: string): string | undefined {
    const scalar = this.scalar(value, what)
    if (scalar === undefined) return undefined
    return scalar.text !== null && scalar.text !== '' ? scalar.text : this.refuse(value, `${what} is empty`)
  }

  integer(
    value: Located,
    what: string,
    { min, max }: { readonly min: number; readonly max: number },
  ): number | undefined {
    const text = this.text(value, what)
    if (text === undefined) return undefined
    const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    if (number >= min && number <= max) return number
    return this.refuse(value, `${what} is '${shown(value)}': expected a whole number from ${min} to ${max}`)
  }

  boolean(value: Located, what: string): boolean | undefined {
    const text = this.text(value, what)
    if (text === undefined) return undefined
    if (/^(true|yes|on)$/i.test(text)) return true
    if (/^(false|no|off)$/i.test(text)) return false
    return this.refuse(value, `${what} is '${shown(value)}': expected true or false`)
  }

  /** A list of texts, or one text. */
  texts(value: Located, what: string): readonly string[] {
    const items = value.kind === 'list' ? value.items : [value]
    return items.flatMap((item) => this.text(item, what) ?? [])
  }

  choice<Word extends string>(value: Located, what: string, words: readonly Word[]): Word | undefined {
    const text = this.text(value, what)
    const word = words.find((one) => one === text)
    if (text === undefined || word !== undefined) return word
    return this.refuse(value, `${what} is '${shown(value)}': expected ${words.join(', ')}`)
  }

  /** Refuses the keys that are not read here, with the reason. Keys that begin with `x-` are comments. */
  keys(
    map: LocatedMap,
    where: string,
    {
      read,
      refused = {},
    }: { readonly read: readonly string[]; readonly refused?: Readonly<Record<string, string>> },
  ): void {
    for (const [key, place] of map.entries) {
      if (read.includes(key) || key.startsWith('x-')) continue
      const reason = Object.hasOwn(refused, key) ? refused[key] : undefined
      const named = `'${key.slice(0, maxShown)}' ${where}`
      this.refuse(
        place,
        reason === undefined ? `${named} is not known` : `${named} can not be done: ${reason}`,
      )
    }
  }

  /**
   * Pairs that are written as a mapping or as a list of `NAME=value`. The value is null if a name stands
   * alone.
   */
  pairs(value: Located, what: string): ReadonlyMap<string, Pair> {
    const pairs = new Map<string, Pair>()
    if (value.kind === 'map') {
      for (const [name, entry] of value.entries) {
        const scalar = this.scalar(entry.value, `${name} of ${what}`)
        if (scalar !== undefined)
          pairs.set(name, { place: entry, text: scalar.text, written: scalar.written })
      }
      return pairs
    }
    for (const item of this.list(value, what)?.items ?? []) {
      const text = this.text(item, `an entry of ${what}`)
      if (text === undefined) continue
      const at = text.indexOf('=')
      const name = at < 0 ? text : text.slice(0, at)
      const written = shown(item)
      if (name === '') this.refuse(item, `an entry of ${what} has no name: expected NAME=value`)
      else pairs.set(name, { place: item, text: at < 0 ? null : text.slice(at + 1), written })
    }
    return pairs
  }
}

export interface Pair {
  readonly place: Place
  readonly text: string | null
  readonly written: string
}

/** A value as it was written, for messages: the variables in it may be secrets. */
export function shown(value: Located): string {
  if (value.kind !== 'scalar') return value.kind === 'list' ? 'a list' : 'a mapping'
  return value.written.length > maxShown ? `${value.written.slice(0, maxShown)}…` : value.written
}

export function entry(map: LocatedMap | undefined, key: string): LocatedEntry | undefined {
  return map?.entries.get(key)
}

/** The value of a key; undefined also if nothing is written behind it. */
export function valueAt(map: LocatedMap | undefined, key: string): Located | undefined {
  const value = map?.entries.get(key)?.value
  return value?.kind === 'scalar' && value.text === null ? undefined : value
}
