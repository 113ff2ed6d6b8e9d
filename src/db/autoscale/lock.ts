import type { EntityManager } from '@mikro-orm/postgresql'
import type { UserEntity } from '../schema/user.ts'
import { Refused } from '../refused.ts'
import { lockUser } from '../account/user-lock.ts'

/** A configuration whose row, and that of its user, are locked until the commit. */
export interface LockedAutoscale {
  readonly user: UserEntity
  /** Since then the configuration is to be closed; null: it is in force. */
  readonly deletedAtMs: number | null
  readonly masterUuid: string | null
  readonly minSize: number
  readonly maxSize: number
  readonly warmupMs: number
  readonly cooldownMs: number
}

/**
 * Undefined where the service has no configuration. In the order of all locks: the user, the service, its
 * configuration; so clones are made and given back one by one, and beside no create, start or delete of their
 * user.
 */
export async function lockAutoscale(
  em: EntityManager,
  serviceUuid: string,
): Promise<LockedAutoscale | undefined> {
  const [owner] = await em.execute<{ uuid: string }[]>(
    'select user_uuid as "uuid" from autoscale_configurations where service_uuid = ?',
    [serviceUuid],
  )
  if (owner === undefined) return undefined
  const user = await lockOwner(em, owner.uuid)
  if (user === undefined) return undefined
  await em.execute('select 1 from services where uuid = ? for update', [serviceUuid])
  const [row] = await em.execute<Omit<LockedAutoscale, 'user'>[]>(
    `select (extract(epoch from deleted_at) * 1000)::float8 as "deletedAtMs", master_uuid as "masterUuid", min_size as "minSize",
       max_size as "maxSize", warmup_ms as "warmupMs", cooldown_ms as "cooldownMs"
     from autoscale_configurations where service_uuid = ? and user_uuid = ? for update`,
    [serviceUuid, user.uuid],
  )
  return row === undefined ? undefined : { user, ...row }
}

/** Who was removed meanwhile took the configuration along. */
async function lockOwner(em: EntityManager, userUuid: string): Promise<UserEntity | undefined> {
  try {
    return await lockUser(em, userUuid)
  } catch (error) {
    if (error instanceof Refused) return undefined
    throw error
  }
}
