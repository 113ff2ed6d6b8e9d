import { CompiledQuery } from 'kysely'
import type { Database } from '../../src/db/database.ts'

/**
 * The rows of a statement in plain SQL, with the column names of the statement. Tests read the tables with
 * it, so that they do not depend on the queries that they test. Placeholders are `$1`, `$2`.
 */
export async function readRows<Row>(
  database: Pick<Database, 'db'>,
  { text, values = [] }: { readonly text: string; readonly values?: readonly unknown[] },
): Promise<Row[]> {
  const { rows } = await database.db.withoutPlugins().executeQuery<Row>(CompiledQuery.raw(text, [...values]))
  return rows
}
