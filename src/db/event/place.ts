import { expressionBuilder } from 'kysely'
import type { ExpressionBuilder, ExpressionWrapper, SqlBool } from 'kysely'
import type { Tables } from '../schema/tables.ts'

/** A place in the order of events: see `readEventsAfter`. */
export interface EventPlace {
  readonly xid: string
  readonly position: number
}

/** The place before all events. */
export const beforeAllEvents: EventPlace = { xid: '0', position: 0 }

export function placeOf({ xid, position }: EventPlace): EventPlace {
  return { xid, position }
}

type Condition = (eb: ExpressionBuilder<Tables, 'events'>) => ExpressionWrapper<Tables, 'events', SqlBool>

/** Whether an event lies on one side of a place. */
export function isBeside(comparison: '<' | '<=' | '>', { xid, position }: EventPlace): Condition {
  return (eb) => eb(eb.refTuple('events.xid', 'events.position'), comparison, eb.tuple(xid, position))
}

const { fn } = expressionBuilder<Tables>()
const snapshot = fn('pg_current_snapshot', [])

/** The oldest transaction that is still under way. No later commit can have a lower number. */
export const oldestOpen = fn<string>('pg_snapshot_xmin', [snapshot])

/** The number of the next transaction. */
export const nextTransaction = fn<string>('pg_snapshot_xmax', [snapshot])
