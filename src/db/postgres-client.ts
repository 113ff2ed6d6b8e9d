import pg from 'pg'
import { toPlainText } from '../domain/plain-text.ts'
import type { JsonText } from './schema/tables.ts'

/**
 * A connection to PostgreSQL that does two things more than that of `pg`.
 *
 * It replaces each NUL by U+FFFD, because PostgreSQL's texts can not hold a NUL. The API refuses a NUL in
 * requests and names the field. But reports of hosts, images and authorities are written as they come: one
 * NUL in them would fail the write, and every repeat of the write, for ever. MikroORM's entity manager
 * writes values into the text of its statements, so NULs in that text are replaced too.
 *
 * It prepares statements that have parameters, so that PostgreSQL parses the same text once per connection
 * and can keep its plan.
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

/**
 * The value for a JSON column. PostgreSQL refuses an escaped NUL in JSON too, so NULs are replaced inside
 * the value.
 */
export function json<Value>(value: Value): JsonText<Value> {
  return JSON.stringify(value, (_key, inner: unknown) => plainValue(inner)) as JsonText<Value>
}

/**
 * Replaces NULs in a query object, which has a text and its values. An object with `submit` is a cursor,
 * which sends its statement itself and is passed on unchanged; Roost uses no cursors.
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
 * How many texts are prepared at most. The code has fewer; but a statement whose text grows with its values,
 * such as an insert of several rows, has many texts. Texts beyond the bound are parsed each time.
 */
const maxPrepared = 1_000
const preparedNames = new Map<string, string>()

/**
 * The name of the prepared statement for a text. Undefined if the bound is reached and the text is not
 * prepared.
 */
function preparedName(text: string): string | undefined {
  const known = preparedNames.get(text)
  if (known !== undefined || preparedNames.size >= maxPrepared) return known
  const name = `q${preparedNames.size}`
  preparedNames.set(text, name)
  return name
}
