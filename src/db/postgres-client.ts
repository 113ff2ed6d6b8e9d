import pg from 'pg'
import { toPlainText } from '../domain/plain-text.ts'
import type { JsonText } from './schema/tables.ts'

/**
 * A connection to PostgreSQL that does three things more than that of `pg`.
 *
 * It replaces each NUL by U+FFFD, because PostgreSQL's texts can not hold a NUL. The API refuses a NUL in
 * requests and names the field. But reports of hosts, images and authorities are written as they come: one
 * NUL in them would fail the write, and every repeat of the write, for ever. MikroORM's entity manager
 * writes values into the text of its statements, so NULs in that text are replaced too.
 *
 * It prepares statements that have parameters, so that PostgreSQL parses the same text once per connection
 * and can keep its plan.
 *
 * It makes the promise of a result itself. The promise that `pg` makes keeps old results in memory until the
 * next full garbage collection. With long lists this cost a third of the processor time of a query.
 */
export class PostgresClient extends pg.Client {
  override query(statement: unknown, values?: unknown, callback?: unknown): never {
    const send = (...sent: readonly unknown[]): unknown => super.query(...(sent as [string]))
    if (isSubmittable(statement)) return send(statement, values, callback) as never
    const taker = typeof values === 'function' ? values : callback
    const query = queryOf(statement, values === taker ? undefined : values)
    if (taker !== undefined) return send(query, taker) as never
    return new Promise((resolve, reject) => {
      send(query, (error: Error | null, result: unknown) => {
        if (error) reject(error)
        else resolve(result)
      })
    }) as never
  }
}

/**
 * The value for a JSON column. PostgreSQL refuses an escaped NUL in JSON too, so NULs are replaced inside
 * the value.
 */
export function json<Value>(value: Value): JsonText<Value> {
  return JSON.stringify(value, (_key, inner: unknown) => plainValue(inner)) as JsonText<Value>
}

/** Whether the argument of `query` sends its statement itself, as a cursor does. Roost uses no cursors. */
function isSubmittable(statement: unknown): boolean {
  return typeof statement === 'object' && statement !== null && 'submit' in statement
}

/** The statement and its values as one object, without NULs. A text that has values is prepared. */
function queryOf(statement: unknown, given: unknown): pg.QueryConfig {
  const query = typeof statement === 'string' ? { text: statement } : (statement as pg.QueryConfig)
  const text = toPlainText(query.text)
  const values = plainValue(given ?? query.values) as unknown[] | undefined
  const name = typeof statement === 'string' && values !== undefined ? preparedName(text) : query.name
  return { ...query, text, ...(values && { values }), ...(name !== undefined && { name }) }
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
