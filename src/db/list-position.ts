import { isUuid } from '../domain/object-name.ts'
import type { Database } from './database.ts'

/** The tables whose rows users page through, in the order of creation, which is that of `position`. */
export type List = 'instances' | 'services' | 'certificates' | 'volumes'

/**
 * Where an object of the user stands in its list, or stood before it was deleted: a page goes on behind its
 * last entry also when that was deleted meanwhile. Undefined for what this user never had.
 *
 * A row that is marked deleted still tells its position. When a row is removed, a trigger writes its position
 * to `deleted_positions`, and removes the oldest ones there: of each user and list the 2000 objects that were
 * deleted last are known.
 */
export async function listPosition(
  { db }: Database,
  { list, userUuid, uuid }: { readonly list: List; readonly userUuid: string; readonly uuid: string },
): Promise<number | undefined> {
  // PostgreSQL would fail the query for a text that is no UUID.
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
