import { CompiledQuery } from 'kysely'
import type { Database } from '../../src/db/database.ts'

/**
 * Rows of a statement in plain SQL, under the names that it gives them: tests look at the tables by
 * themselves, and not by the queries that they test. Placeholders are `$1`, `$2`.
 */
export async function readRows<Row>(
  database: Pick<Database, 'db'>,
  { text, values = [] }: { readonly text: string; readonly values?: readonly unknown[] },
): Promise<Row[]> {
  const { rows } = await database.db.withoutPlugins().executeQuery<Row>(CompiledQuery.raw(text, [...values]))
  return rows
}
