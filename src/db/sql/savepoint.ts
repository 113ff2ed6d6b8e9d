import { sql } from 'kysely'
import type { RawBuilder } from 'kysely'

/**
 * Marks a point in the transaction, or undoes what came after it and gives back the locks that were taken
 * since. The query builder has savepoints only for transactions that are begun and ended by hand.
 */
export function savepoint(step: 'set' | 'return'): RawBuilder<unknown> {
  return step === 'set' ? sql`savepoint placement` : sql`rollback to savepoint placement`
}
