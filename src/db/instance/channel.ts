import { expressionBuilder } from 'kysely'
import type { AggregateFunctionBuilder, Expression } from 'kysely'
import type { Tables } from '../schema/tables.ts'

/** The channel on which PostgreSQL notifies of changed instances and volumes. The payload is the UUID. */
export const instanceChannel = 'roost_instance'

/**
 * Counts rows, and for each row notifies the listeners of the object with this UUID when the transaction
 * commits. A statement selects this from the rows that it changed; the answer is always one row.
 */
export function countNotified(uuid: Expression<string>): AggregateFunctionBuilder<Tables, never, number> {
  const eb = expressionBuilder<Tables>()
  const notify = eb.fn('pg_notify', [eb.val(instanceChannel), eb.cast(uuid, 'text')])
  return eb.fn.count<number>(notify)
}
