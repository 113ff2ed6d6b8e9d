import { isUuid } from '../domain/object-name.ts'
import { isLimited, servicesWithin } from './account/reach.ts'
import type { Reach } from './account/reach.ts'
import type { Database } from './database.ts'
import type { Db } from './schema/tables.ts'
import { allOf } from './sql/lists.ts'

/** The tables whose rows users page through, in the order of creation. `position` grows in that order. */
export type List = 'instances' | 'services' | 'certificates' | 'volumes' | 'schedules'

/**
 * The place of a user's object in its list, also after the object was deleted. So the next page can begin
 * behind the last entry of a page even if that entry was deleted meanwhile. Undefined if the user never had
 * the object, or has it out of reach. Of a deleted object nobody knows any more whether it was within reach.
 *
 * A row that is marked deleted still has its position. When a row is removed, a trigger writes its position
 * to `deleted_positions` and removes the oldest entries there: for each user and list, the last 2000 deleted
 * objects are known.
 */
export async function listPosition(
  { db }: Database,
  { list, uuid, ...reach }: Reach & { readonly list: List; readonly uuid: string },
): Promise<number | undefined> {
  // PostgreSQL would fail the query if the text is no UUID.
  if (!isUuid(uuid) || (isLimited(reach) && (await isBeyond(db, reach, { list, uuid })))) return undefined
  const { userUuid } = reach
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

/** Whether the object exists and is not within a limited reach. Only instances and services can be. */
async function isBeyond(
  db: Db,
  reach: Reach,
  { list, uuid }: { readonly list: List; readonly uuid: string },
): Promise<boolean> {
  if (list === 'services') {
    const names = reach.services ?? []
    const other = db
      .selectFrom(list)
      .select('uuid')
      .where('uuid', '=', uuid)
      .where('name', '<>', allOf(names))
    return (await other.executeTakeFirst()) !== undefined
  }
  if (list !== 'instances') return true
  const other = await db
    .selectFrom(list)
    .select('uuid')
    .where('uuid', '=', uuid)
    .where('deletedAt', 'is', null)
    .where((eb) =>
      eb.or([eb('serviceUuid', 'is', null), eb('serviceUuid', 'not in', servicesWithin(db, reach))]),
    )
    .executeTakeFirst()
  return other !== undefined
}
