import { isUuid } from '../domain/object-name.ts'
import type { Database } from './database.ts'

/** The tables whose rows users page through, in the order of creation. `position` grows in that order. */
export type List = 'instances' | 'services' | 'certificates' | 'volumes'

/**
 * The place of a user's object in its list, also after the object was deleted. So the next page can begin
 * behind the last entry of a page even if that entry was deleted meanwhile. Undefined if the user never had
 * the object.
 *
 * A row that is marked deleted still has its position. When a row is removed, a trigger writes its position
 * to `deleted_positions` and removes the oldest entries there: for each user and list, the last 2000 deleted
 * objects are known.
 */
export async function listPosition(
  { db }: Database,
  { list, userUuid, uuid }: { readonly list: List; readonly userUuid: string; readonly uuid: string },
): Promise<number | undefined> {
  // PostgreSQL would fail the query if the text is no UUID.
  if (!isUuid(uuid)) return undefined
  const deleted = db
    .selectFrom('deletedPositions')
    .select('position')
    .where('uuid', '=', uuid)
    .where('userUuid', '=', userUuid)
    .where('list', '=', list)
  const row = await db
    .selectFrom(list)
    .select('position')
    .where('uuid', '=', uuid)
    .where('userUuid', '=', userUuid)
    .unionAll(deleted)
    .executeTakeFirst()
  return row?.position
}
