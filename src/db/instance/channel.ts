import { expressionBuilder } from 'kysely'
import type { AggregateFunctionBuilder, Expression } from 'kysely'
import type { Tables } from '../schema/tables.ts'

/** Where PostgreSQL tells of instances and volumes that changed; the payload is the uuid. */
export const instanceChannel = 'roost_instance'

/**
 * Counts rows, and tells listeners of each row's object once the transaction commits. A statement selects
 * this from the rows that it changed; it answers one row, always.
 */
export function countNotified(uuid: Expression<string>): AggregateFunctionBuilder<Tables, never, number> {
  const eb = expressionBuilder<Tables>()
  const notify = eb.fn('pg_notify', [eb.val(instanceChannel), eb.cast(uuid, 'text')])
  return eb.fn.count<number>(notify)
}
