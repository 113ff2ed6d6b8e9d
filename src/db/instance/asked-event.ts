import type { News } from '../../domain/event/news.ts'
import type { Database } from '../database.ts'
import { eventObject, writeEvents } from '../event/write.ts'
import type { InstanceRow } from './row.ts'

/**
 * Writes that a start or stop of an instance was asked for and accepted. The workflow writes what becomes of
 * it, so this event is written beside it, and no answer waits for it longer than for the workflow.
 */
export async function writeAsked(
  { db }: Database,
  row: Pick<InstanceRow, 'uuid' | 'name' | 'userUuid' | 'state'>,
  news: Omit<News, 'from'>,
): Promise<void> {
  await writeEvents(db, [{ ...eventObject(row), from: row.state, ...news }])
}
