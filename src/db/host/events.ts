import type { News } from '../../domain/event/news.ts'
import { writeEvents } from '../event/write.ts'
import type { Db } from '../schema/tables.ts'

/**
 * Tells all administrators what happened to a host, in the caller's transaction, which writes the row. Events
 * belong to accounts, so each administrator's account gets one.
 */
export async function tellOfHost(db: Db, hostId: string, news: News | undefined): Promise<void> {
  if (news === undefined) return
  const administrators = await db.selectFrom('users').select('uuid').where('admin', '=', true).execute()
  await writeEvents(
    db,
    administrators.map(({ uuid }) => ({ ...news, userUuid: uuid, objectName: hostId })),
  )
}
