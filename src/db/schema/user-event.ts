import { defineEntity, p } from '@mikro-orm/postgresql'
import type { AskerKind } from '../../domain/event/asker.ts'
import type { EventFacts } from '../../domain/event/news.ts'
import type { UserEventKind } from '../../domain/event/user-event-kind.ts'

/**
 * What happened to an object of a user. A row is written in the transaction that changes the object, and
 * never changed. `src/db/event/read.ts` says in which order they are read.
 *
 * The user is no reference. PostgreSQL would lock the user's row for each event, and wait there for the
 * user's own requests.
 */
export const UserEvent = defineEntity({
  name: 'UserEvent',
  tableName: 'events',
  indexes: [
    { name: 'events_user_index', properties: ['userUuid', 'xid', 'position'] },
    { name: 'events_object_index', properties: ['objectUuid', 'xid', 'position'] },
  ],
  properties: {
    /** The id of the event. */
    position: p.bigint('number').autoincrement().primary(),
    /** The transaction that wrote the event. Readers find by it what was committed since their last read. */
    xid: p.string().columnType('xid8').defaultRaw('pg_current_xact_id()'),
    userUuid: p.uuid(),
    at: p.datetime(3).defaultRaw('now()'),
    /** No constraint lists the kinds, so that a new kind needs no migration. */
    kind: p.text().$type<UserEventKind>(),
    /** Null for images and hosts, which have only names. */
    objectUuid: p.uuid().nullable(),
    objectName: p.text(),
    /** The state before and after. Null: the event changes no state, or there was none. */
    stateBefore: p.text().nullable(),
    stateAfter: p.text().nullable(),
    why: p.text(),
    askedBy: p.text().$type<AskerKind>(),
    askerName: p.text().nullable(),
    requestId: p.text().nullable(),
    facts: p.json<EventFacts>().nullable(),
  },
})
