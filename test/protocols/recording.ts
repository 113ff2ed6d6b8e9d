import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { isJsonObject } from '../../src/domain/json-text.ts'

const directory = path.resolve(import.meta.dirname, 'recorded')

/** A message or a file as a part of the version `version` wrote it. */
export interface Recording {
  readonly version: number
  /** What kind of message it is, for readers of several kinds. */
  readonly kind: string
  readonly message: unknown
  /** What the reader makes of it. Absent: the message itself. */
  readonly reads?: unknown
}

/** Reads a recorded message with today's reader. `directory` is empty, for readers of files. */
export type Reader = (recorded: Recording, directory: string) => unknown

/** The recordings of a row. None if nobody has recorded any. */
export function recordingsOf(row: string): readonly Recording[] {
  const file = path.join(directory, `${row}.json`)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as readonly Recording[]) : []
}

const laterField = 'fieldOfALaterVersion'

/** The objects whose names are data, such as UUIDs. A later version adds no fields there. */
const tables: ReadonlySet<string> = new Set([
  'awake',
  'env',
  'imageBytes',
  'labels',
  'loads',
  'reach',
  'requests',
  'settings',
  'traffic',
  'usage',
  'wakes',
])

/** The message as a later version may write it: with one more field in every object. */
export function asLater(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((one) => asLater(one))
  if (!isJsonObject(value)) return value
  const fields = Object.fromEntries(Object.entries(value).map(([key, one]) => [key, asLater(one, key)]))
  return tables.has(name) ? fields : { ...fields, [laterField]: { of: ['any', 'form'] } }
}

/** What was read, without the fields of a later version that were passed on, and as JSON has it. */
export function asToday(value: unknown): unknown {
  const text = JSON.stringify(value, (name, one: unknown) => (name === laterField ? undefined : one))
  return text === undefined ? undefined : JSON.parse(text)
}
