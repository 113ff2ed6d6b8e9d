import pg from 'pg'
import { toPlainText } from '../domain/plain-text.ts'
import type { JsonText } from './schema/tables.ts'

/**
 * A connection with two habits.
 *
 * It sends nothing but text. The API refuses a NUL in requests, by name; what hosts, images and authorities
 * report is written as it comes, and one NUL in it would fail the write, and every repeat of the write, for
 * ever. U+FFFD takes the place of a NUL. MikroORM's entity manager writes values into the text of its
 * statements, so the text is looked at too.
 *
 * It prepares what has parameters: PostgreSQL parses and plans the same text once per connection.
 */
export class PostgresClient extends pg.Client {
  override query(statement: unknown, values?: unknown, ...rest: readonly unknown[]): never {
    const send = super.query as (...sent: readonly unknown[]) => unknown
    if (typeof statement !== 'string' || !Array.isArray(values))
      return send.call(this, plainStatement(statement), plainValue(values), ...rest) as never
    const text = toPlainText(statement)
    return send.call(this, { name: preparedName(text), text, values: plainValue(values) }, ...rest) as never
  }
}

/** The value for a column of JSON. An escaped NUL is as impossible there as a NUL elsewhere. */
export function json<Value>(value: Value): JsonText<Value> {
  return JSON.stringify(value, (_key, inner: unknown) => plainValue(inner)) as JsonText<Value>
}

/**
 * An object with a text and its values. A cursor sends for itself, and no statement of ours uses one.
 */
function plainStatement(statement: unknown): unknown {
  if (typeof statement !== 'object' || statement === null || 'submit' in statement)
    return plainValue(statement)
  const { text, values } = statement as Partial<pg.QueryConfig>
  return { ...statement, text: plainValue(text), ...(values !== undefined && { values: plainValue(values) }) }
}

function plainValue(value: unknown): unknown {
  if (typeof value === 'string') return toPlainText(value)
  return Array.isArray(value) ? value.map(plainValue) : value
}

/**
 * More texts than the code has. Only a statement whose text grows with its values, such as an insert of
 * several rows, has many texts; those beyond the bound are parsed each time.
 */
const maxPrepared = 1_000
const preparedNames = new Map<string, string>()

/** Undefined where the statement is not to be prepared. */
function preparedName(text: string): string | undefined {
  const known = preparedNames.get(text)
  if (known !== undefined || preparedNames.size >= maxPrepared) return known
  const name = `q${preparedNames.size}`
  preparedNames.set(text, name)
  return name
}
