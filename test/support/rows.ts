import { CompiledQuery } from 'kysely'
import type { Database } from '../../src/db/database.ts'

/**
 * Rows of a statement in plain SQL, with the column names of the statement. So tests read the tables without
 * the queries that they test. Placeholders are `$1`, `$2`.
 */
export async function readRows<Row>(
  database: Pick<Database, 'db'>,
  { text, values = [] }: { readonly text: string; readonly values?: readonly unknown[] },
): Promise<Row[]> {
  const { rows } = await database.db.withoutPlugins().executeQuery<Row>(CompiledQuery.raw(text, [...values]))
  return rows
}
