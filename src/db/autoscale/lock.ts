import type { Db, Row } from '../schema/tables.ts'
import { Refused } from '../refused.ts'
import { lockUser } from '../account/user-lock.ts'

/** A configuration whose row is locked until the commit, as are the rows of its service and its user. */
export type LockedAutoscale = Readonly<
  Pick<Row<'autoscaleConfigurations'>, (typeof columns)[number]> & {
    user: Row<'users'>
    service: { readonly uuid: string; readonly name: string; readonly userUuid: string }
  }
>

const columns = ['deletedAt', 'masterUuid', 'minSize', 'maxSize', 'warmupMs', 'cooldownMs'] as const

/**
 * Locks the configuration of a service, a deleted one too. Undefined if the service has none. The user's row
 * is locked first, then the service, then the configuration. So only one transaction at a time makes clones
 * of a service or gives them back, and meanwhile no other transaction creates, starts or deletes instances
 * of the same user.
 */
export async function lockAutoscale(db: Db, serviceUuid: string): Promise<LockedAutoscale | undefined> {
  const owner = await db
    .selectFrom('autoscaleConfigurations')
    .select('userUuid')
    .where('serviceUuid', '=', serviceUuid)
    .executeTakeFirst()
  if (owner === undefined) return undefined
  const user = await lockOwner(db, owner.userUuid)
  if (user === undefined) return undefined
  const service = await db
    .selectFrom('services')
    .select(['uuid', 'name', 'userUuid'])
    .where('uuid', '=', serviceUuid)
    .forUpdate()
    .executeTakeFirst()
  const row = await db
    .selectFrom('autoscaleConfigurations')
    .select(columns)
    .where('serviceUuid', '=', serviceUuid)
    .where('userUuid', '=', user.uuid)
    .forUpdate()
    .executeTakeFirst()
  return row === undefined || service === undefined ? undefined : { user, service, ...row }
}

/** Undefined if the user was removed meanwhile; the configuration was removed with the user. */
async function lockOwner(db: Db, userUuid: string): Promise<Row<'users'> | undefined> {
  try {
    return await lockUser(db, userUuid)
  } catch (error) {
    if (error instanceof Refused) return undefined
    throw error
  }
}
