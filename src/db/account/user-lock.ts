import { LockMode } from '@mikro-orm/postgresql'
import type { EntityManager } from '@mikro-orm/postgresql'
import { User } from '../schema/user.ts'
import type { UserEntity } from '../schema/user.ts'
import { Refused } from '../refused.ts'

/**
 * Takes the lock under which quotas are checked, names chosen and volumes change hands: whatever a user asks
 * for at once comes one after the other. Always the first lock of a transaction. Throws `Refused`.
 */
export async function lockUser(em: EntityManager, userUuid: string): Promise<UserEntity> {
  const user = await em.findOne(User, { uuid: userUuid }, { lockMode: LockMode.PESSIMISTIC_WRITE })
  if (!user) throw new Refused({ kind: 'no-user' })
  return user
}
