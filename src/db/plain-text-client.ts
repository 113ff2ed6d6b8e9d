import pg from 'pg'
import { toPlainText } from '../domain/plain-text.ts'

/**
 * A connection that sends nothing but text. The API refuses a NUL in requests, by name; what hosts, images
 * and authorities report is written as it comes, and one NUL in it would fail the write, and every repeat of
 * it, for ever. Here U+FFFD takes its place. MikroORM writes values into the text of its statements, so that
 * text is looked at too.
 */
export class PlainTextClient extends pg.Client {
  /** For every form of the driver's own: only what is sent changes. */
  override query(statement: unknown, values?: unknown, ...rest: readonly unknown[]): never {
    const send = super.query as (...sent: readonly unknown[]) => unknown
    return send.call(this, plainStatement(statement), plainValue(values), ...rest) as never
  }
}

/** What is written into a column of JSON: an escaped NUL is as impossible there as a NUL elsewhere. */
export function plainJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => plainValue(inner))
}

/**
 * A text, or an object with a text and its values. A cursor sends for itself, and no statement of ours uses
 * one.
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
