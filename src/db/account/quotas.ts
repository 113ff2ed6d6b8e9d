import type { EntityManager } from '@mikro-orm/postgresql'
import { findDeletedExcess, findQuotaExcess } from '../../domain/account/quotas.ts'
import type { DeletedQuotas, QuotaAmounts, QuotaReport } from '../../domain/account/quotas.ts'
import type { Database } from '../database.ts'
import { User } from '../schema/user.ts'
import { Refused } from '../refused.ts'
import { hardQuotasOf, quotaLimitsOf } from './users.ts'
import type { UserEntity } from '../schema/user.ts'

/**
 * An instance is live unless it is stopped; one that was asked to start, or that waits for its next restart,
 * keeps the place it is going to take. The same words decide what is shown and what is enforced.
 */
export const liveCondition = `(state <> 'stopped' or restart_next_at is not null or live_reserved_until > now())`

/** A live one that keeps its memory in standby may need the room for it at any moment. */
const keepsMemory = `${liveCondition} and standby_policy <> 'off' and standby_stateful`

const heldByInstances = `select count(*)::int as "instances",
        (count(*) filter (where ${liveCondition}))::int as "liveInstances",
        coalesce(sum(vcpus) filter (where ${liveCondition}), 0)::int as "liveVcpus",
        coalesce(sum(memory_mb) filter (where ${liveCondition}), 0)::int as "liveMemoryMb",
        coalesce(sum(memory_mb) filter (where ${keepsMemory}), 0)::int as "snapshotMb"
      from instances`

const heldByVolumes = `select count(*)::int as "volumes", coalesce(sum(size_mb), 0)::int as "totalVolumeMb" from volumes`

/**
 * With `?` for the user. Deleted instances and volumes give their quota back at once; but see `deletedSql`.
 */
export const usedQuotasSql = `
  with owner as (select ?::uuid as uuid)
  select held.*, published.*, kept.*, pushed.*, unpacked.* from owner,
    lateral (${heldByInstances} where user_uuid = owner.uuid and deleted_at is null) as held,
    lateral (select count(*)::int as "serviceGroups",
        coalesce(sum(jsonb_array_length(ports)), 0)::int as "services"
      from services where user_uuid = owner.uuid) as published,
    lateral (${heldByVolumes} where user_uuid = owner.uuid and deleted_at is null) as kept,
    lateral (select ceil(registry_bytes / 1048576.0)::int as "registryMb"
      from users where uuid = owner.uuid) as pushed,
    lateral (select coalesce(max(ceil((image_bytes->>owner.uuid::text)::bigint / 1048576.0)), 0)::int as "imageMb"
      from nodes) as unpacked`

export type UsedQuotas = QuotaAmounts

/**
 * What is deleted and not yet gone from its host: until then it holds an address, a place on a disk and work
 * to be done.
 */
const deletedSql = `
  with owner as (select ?::uuid as uuid)
  select deleted.*, emptied.* from owner,
    lateral (${heldByInstances} where user_uuid = owner.uuid and deleted_at is not null) as deleted,
    lateral (${heldByVolumes} where user_uuid = owner.uuid and deleted_at is not null) as emptied`

/** Undefined where there is no such user. */
export async function readQuotas(database: Database, userUuid: string): Promise<QuotaReport | undefined> {
  const user = await database.em().findOne(User, { uuid: userUuid })
  if (!user) return undefined
  const [used] = await database.rows<UsedQuotas>({
    name: 'used-quotas',
    text: usedQuotasSql.replace('?', '$1'),
    values: [userUuid],
  })
  return quotaReport(user, used)
}

/** In a transaction that has the user's row locked. */
export async function quotasOf(em: EntityManager, user: UserEntity): Promise<QuotaReport> {
  const [used] = await em.execute<UsedQuotas[]>(usedQuotasSql, [user.uuid])
  return quotaReport(user, used)
}

/**
 * Throws where `added` would pass a quota, or what the account has and what it deleted would pass the double
 * of one before hosts are done with it. In a transaction that has the user's row locked.
 */
export async function refuseExcess(
  em: EntityManager,
  quotas: QuotaReport,
  added: Partial<QuotaAmounts>,
): Promise<void> {
  const excess = findQuotaExcess(quotas, added)
  if (excess) throw new Refused({ kind: 'quota', excess })
  const [deleted] = await em.execute<DeletedQuotas[]>(deletedSql, [quotas.userUuid])
  const tooMuch = deleted && findDeletedExcess(quotas, deleted, added)
  if (tooMuch) throw new Refused({ kind: 'deleted-excess', excess: tooMuch })
}

export function quotaReport(user: UserEntity, used: UsedQuotas | undefined): QuotaReport {
  const none = {
    instances: 0,
    liveInstances: 0,
    liveVcpus: 0,
    liveMemoryMb: 0,
    serviceGroups: 0,
    services: 0,
    volumes: 0,
    totalVolumeMb: 0,
    registryMb: 0,
    snapshotMb: 0,
    imageMb: 0,
  }
  return {
    userUuid: user.uuid,
    used: used ?? none,
    hard: hardQuotasOf(user),
    limits: quotaLimitsOf(user),
  }
}
