import { upgradeNews } from '../../domain/host/upgrade.ts'
import type { HostUpgrade } from '../../domain/host/upgrade.ts'
import { writeEvents } from '../event/write.ts'
import type { Db } from '../schema/tables.ts'

/**
 * Tells all administrators if an upgrade of a host began or ended, in the caller's transaction, which writes
 * the row. Events belong to accounts, so each administrator's account gets one.
 */
export async function tellUpgrade(
  db: Db,
  hostId: string,
  { before, now }: { readonly before: HostUpgrade | null; readonly now: HostUpgrade | undefined },
): Promise<void> {
  const news = now && upgradeNews(hostId, before ?? undefined, now)
  if (news === undefined) return
  const administrators = await db.selectFrom('users').select('uuid').where('admin', '=', true).execute()
  await writeEvents(
    db,
    administrators.map(({ uuid }) => ({ ...news, userUuid: uuid, objectName: hostId })),
  )
}
