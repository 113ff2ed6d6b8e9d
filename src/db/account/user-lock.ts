import { Refused } from '../refused.ts'
import { columnsOf } from '../schema/columns.ts'
import type { Db, Row } from '../schema/tables.ts'

/**
 * Takes the lock under which quotas are checked, names chosen and volumes change hands: whatever a user asks
 * for at once comes one after the other. Always the first lock of a transaction. Throws `Refused`.
 */
export async function lockUser(db: Db, userUuid: string): Promise<Row<'users'>> {
  const user = await findLockedUser(db, userUuid)
  if (!user) throw new Refused({ kind: 'no-user' })
  return user
}

/** As `lockUser`; undefined where there is no such user. */
export async function findLockedUser(db: Db, userUuid: string): Promise<Row<'users'> | undefined> {
  return db
    .selectFrom('users')
    .select(columnsOf('users'))
    .where('uuid', '=', userUuid)
    .forUpdate()
    .executeTakeFirst()
}
