import type { AskerKind } from '../../domain/event/asker.ts'
import type { UserEventKind } from '../../domain/event/user-event-kind.ts'
import { isUuid } from '../../domain/object-name.ts'
import type { Database } from '../database.ts'
import { columnsOf } from '../schema/columns.ts'
import type { Db, Row } from '../schema/tables.ts'
import { anyOf } from '../sql/lists.ts'
import { beforeAllEvents, isBeside, oldestOpen, placeOf } from './place.ts'
import type { EventPlace } from './place.ts'

export { beforeAllEvents } from './place.ts'
export type { EventPlace } from './place.ts'

export type EventRow = Readonly<Row<'events'>>

const eventColumns = columnsOf('events')

export interface EventsRead {
  readonly events: readonly EventRow[]
  /** The place from which to read on. */
  readonly place: EventPlace
  /** Whether there are events after this place already, in committed transactions. */
  readonly more: boolean
}

/**
 * Reads at most `limit` events of a user after a place, the oldest first. Whoever reads on from `place` gets
 * every event, and each once.
 *
 * The order is that of the transactions that wrote the events, and within one transaction that of their
 * positions. A transaction with a low number may commit late. So only events of transactions below the oldest
 * one that is still under way are read: none of these can come later. The others follow some milliseconds
 * later.
 */
export async function readEventsAfter(
  { db }: Database,
  userUuid: string,
  { after, limit }: { readonly after: EventPlace; readonly limit: number },
): Promise<EventsRead> {
  const rows = await db
    .with(
      (cte) => cte('edge').materialized(),
      (db) => db.selectNoFrom(oldestOpen.as('edge')),
    )
    .selectFrom('edge')
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('events')
          .select(eventColumns)
          .where('userUuid', '=', userUuid)
          .where(isBeside('>', after))
          .orderBy('xid')
          .orderBy('position')
          .limit(limit + 1)
          .as('found'),
      (join) => join.onTrue(),
    )
    .selectAll()
    .execute()
  const edge = BigInt(rows[0]!.edge)
  const found = rows.flatMap((row) => (row.position === null ? [] : [row as EventRow]))
  const events = found.filter(({ xid }) => BigInt(xid) < edge).slice(0, limit)
  const last = events.at(-1)
  const isCut = found.length > limit && events.length === limit
  return {
    events,
    place: isCut && last !== undefined ? placeOf(last) : { xid: rows[0]!.edge, position: 0 },
    more: found.length > events.length,
  }
}

/** The place after which everything comes that is not committed yet. */
export async function presentPlace(database: Database, userUuid: string): Promise<EventPlace> {
  return (await readEventsAfter(database, userUuid, { after: beforeAllEvents, limit: 0 })).place
}

/** The place of one of the user's events. Undefined if it is not kept any more, or never was. */
export async function findEventPlace(
  { db }: Database,
  userUuid: string,
  position: number,
): Promise<EventPlace | undefined> {
  const found = await db
    .selectFrom('events')
    .select(['xid', 'position'])
    .where('position', '=', position)
    .where('userUuid', '=', userUuid)
    .executeTakeFirst()
  return found
}

/** The oldest event of the user that is kept. */
export async function findOldestEvent({ db }: Database, userUuid: string): Promise<EventRow | undefined> {
  return selectEvents(db, userUuid, {}).orderBy('xid').orderBy('position').limit(1).executeTakeFirst()
}

export interface EventFilter {
  readonly kinds?: readonly UserEventKind[]
  /** The UUID or the name of the object. */
  readonly object?: string
  readonly askedBy?: AskerKind
  readonly since?: Date
  readonly until?: Date
  readonly after?: EventPlace
  readonly before?: EventPlace
}

/**
 * Reads the events that pass the filter, the newest first, or with `after` the oldest first. It leaves out
 * what `readEventsAfter` leaves out. So whoever reads on after one of these events gets every event.
 */
export async function listEvents(
  { db }: Database,
  userUuid: string,
  { limit, ...filter }: EventFilter & { readonly limit: number },
): Promise<readonly EventRow[]> {
  const order = filter.after === undefined ? 'desc' : 'asc'
  return selectEvents(db, userUuid, filter)
    .where('xid', '<', oldestOpen)
    .orderBy('xid', order)
    .orderBy('position', order)
    .limit(limit)
    .execute()
}

function selectEvents(db: Db, userUuid: string, filter: EventFilter) {
  const { kinds, object, askedBy, since, until, after, before } = filter
  return db
    .selectFrom('events')
    .select(eventColumns)
    .where('userUuid', '=', userUuid)
    .$if(kinds !== undefined, (query) => query.where('kind', '=', anyOf(kinds!)))
    .$if(object !== undefined, (query) =>
      query.where((eb) => eb(isUuid(object!) ? 'objectUuid' : 'objectName', '=', object!)),
    )
    .$if(askedBy !== undefined, (query) => query.where('askedBy', '=', askedBy!))
    .$if(since !== undefined, (query) => query.where('at', '>=', since!))
    .$if(until !== undefined, (query) => query.where('at', '<', until!))
    .$if(after !== undefined, (query) => query.where(isBeside('>', after!)))
    .$if(before !== undefined, (query) => query.where(isBeside('<', before!)))
}
