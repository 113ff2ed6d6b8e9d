import type { QuotaAmounts, QuotaReport } from '../domain/quotas.ts'
import type { Database } from './database.ts'
import { User } from './entities/user.ts'
import { hardQuotasOf, quotaLimitsOf } from './users.ts'
import type { UserEntity } from './entities/user.ts'

/**
 * An instance is live unless it is stopped; one that was asked to start, or that waits for its next restart, keeps
 * the place it is going to take. The same words decide what is shown and what is enforced.
 */
export const liveCondition = `(state <> 'stopped' or restart_next_at is not null or live_reserved_until > now())`

/** With `?` for the user. Deleted instances give their quota back at once. */
export const usedQuotasSql = `
  select count(*)::int as "instances",
    (count(*) filter (where ${liveCondition}))::int as "liveInstances",
    coalesce(sum(vcpus) filter (where ${liveCondition}), 0)::int as "liveVcpus",
    coalesce(sum(memory_mb) filter (where ${liveCondition}), 0)::int as "liveMemoryMb"
  from instances where user_uuid = ? and deleted_at is null`

export type UsedByInstances = Pick<QuotaAmounts, 'instances' | 'liveInstances' | 'liveVcpus' | 'liveMemoryMb'>

/** Undefined where there is no such user. */
export async function readQuotas(database: Database, userUuid: string): Promise<QuotaReport | undefined> {
  const user = await database.em().findOne(User, { uuid: userUuid })
  if (!user) return undefined
  const [used] = await database.rows<UsedByInstances>({
    name: 'used-quotas',
    text: usedQuotasSql.replace('?', '$1'),
    values: [userUuid],
  })
  return quotaReport(user, used)
}

export function quotaReport(user: UserEntity, used: UsedByInstances | undefined): QuotaReport {
  const none = { instances: 0, liveInstances: 0, liveVcpus: 0, liveMemoryMb: 0 }
  return {
    userUuid: user.uuid,
    used: { ...none, ...used, serviceGroups: 0, services: 0, volumes: 0, totalVolumeMb: 0 },
    hard: hardQuotasOf(user),
    limits: quotaLimitsOf(user),
  }
}
