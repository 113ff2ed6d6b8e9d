import { expressionBuilder } from 'kysely'
import type { QueryCreator } from 'kysely'
import type { News } from '../../domain/event/news.ts'
import { maxWhyLength } from '../../domain/event/user-event-kind.ts'
import { json } from '../postgres-client.ts'
import type { Db, Row, Tables } from '../schema/tables.ts'
import { newsRows } from '../sql/events.ts'
import { now } from '../sql/time.ts'

/** An event that is to be written. */
export interface NewEvent extends News {
  readonly userUuid: string
  /** Absent: the object has only a name, like images and hosts. */
  readonly objectUuid?: string
  readonly objectName: string
}

/** The object of an event, from its row. */
export function eventObject(row: {
  readonly uuid: string
  readonly name: string
  readonly userUuid: string
}): Pick<NewEvent, 'userUuid' | 'objectUuid' | 'objectName'> {
  return { userUuid: row.userUuid, objectUuid: row.uuid, objectName: row.name }
}

/** Writes events in the caller's transaction, which changes the objects. They get the order of the list. */
export async function writeEvents(db: Db, events: readonly NewEvent[]): Promise<void> {
  if (events.length > 0) await insertEvents(db, events).execute()
}

/** The insert of events, for a part of a larger statement. */
export function insertEvents(db: QueryCreator<Tables>, events: readonly NewEvent[]) {
  return db
    .insertInto('events')
    .columns(['userUuid', 'objectUuid', 'objectName', ...newsColumns])
    .expression(
      db
        .selectFrom(newsRows(textOf(events)))
        .select(['news.userUuid', 'news.objectUuid', 'news.objectName'])
        .select(selectedNews),
    )
}

/** What an earlier part of a statement returns of the rows that it changed. */
type WithChanged = Tables & { readonly changed: Pick<Row<'instances'>, 'uuid' | 'name' | 'userUuid'> }

/**
 * The insert of the same news for each row of `changed`, for a part of the same statement. So the news are
 * written if and only if the row was changed.
 */
export function insertNewsOfChanged(db: QueryCreator<WithChanged>, news: readonly News[]) {
  return db
    .insertInto('events')
    .columns(['userUuid', 'objectUuid', 'objectName', ...newsColumns])
    .expression(
      db
        .selectFrom(['changed', newsRows(textOf(news))])
        .select(['changed.userUuid', 'changed.uuid', 'changed.name'])
        .select(selectedNews),
    )
}

const newsColumns = [
  'kind',
  'at',
  'stateBefore',
  'stateAfter',
  'why',
  'askedBy',
  'askerName',
  'requestId',
  'facts',
] as const satisfies readonly (keyof Row<'events'>)[]

/** When the news happened: when they are written, unless they say another time. */
const moment = expressionBuilder<{ news: Row<'events'> }, 'news'>().fn.coalesce('news.at', now).as('at')

/** The columns of news in the order of `newsColumns`. */
const selectedNews = [
  'news.kind',
  moment,
  'news.stateBefore',
  'news.stateAfter',
  'news.why',
  'news.askedBy',
  'news.askerName',
  'news.requestId',
  'news.facts',
] as const

function textOf(news: readonly (News | NewEvent)[]): string {
  return json(news.map(stored))
}

function stored(event: News | NewEvent) {
  const { kind, atMs, from, to, why, asker, facts } = event
  return {
    ...('userUuid' in event && {
      user_uuid: event.userUuid,
      object_uuid: event.objectUuid ?? null,
      object_name: event.objectName,
    }),
    kind,
    at: atMs === undefined ? null : new Date(atMs).toISOString(),
    state_before: from ?? null,
    state_after: to ?? null,
    why: why.slice(0, maxWhyLength),
    asked_by: asker.by,
    asker_name: asker.name ?? null,
    request_id: asker.requestId ?? null,
    facts: facts ?? null,
  }
}
