import { Refused } from '../refused.ts'
import { columnsOf } from '../schema/columns.ts'
import type { Db, Row } from '../schema/tables.ts'

/**
 * Locks the user's row and returns it. Quotas are checked, names are chosen, and volumes are attached and
 * detached under this lock, so requests of one user at the same time run one after the other. A transaction
 * that takes this lock takes it before all other locks. Throws `Refused` if there is no such user.
 */
export async function lockUser(db: Db, userUuid: string): Promise<Row<'users'>> {
  const user = await findLockedUser(db, userUuid)
  if (!user) throw new Refused({ kind: 'no-user' })
  return user
}

/** Like `lockUser`, but returns undefined if there is no such user. */
export async function findLockedUser(db: Db, userUuid: string): Promise<Row<'users'> | undefined> {
  return db
    .selectFrom('users')
    .select(columnsOf('users'))
    .where('uuid', '=', userUuid)
    .forUpdate()
    .executeTakeFirst()
}
