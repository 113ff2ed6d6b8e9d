import type { getUsers } from '../../contract/account/user-operations.ts'
import { problem } from '../../contract/errors.ts'
import type { Problem } from '../../contract/errors.ts'
import type { OperationEntry } from '../../contract/operation.ts'
import type { UserOverview } from '../../db/account/user-overview.ts'
import type { CrossedLimits } from '../../domain/account/quotas.ts'
import { optionalTimestamp, timestamp } from '../timestamp.ts'
import { limitNames } from './quota-names.ts'
import { presentReport } from './view.ts'

/** The view of an account for administrators. */
export function presentUser(user: UserOverview): OperationEntry<typeof getUsers> {
  const { uuid, name, admin, createdAt, quotas, tokens, lastUsedAt } = user
  return {
    uuid,
    name,
    admin,
    created_at: timestamp(createdAt),
    ...presentReport(quotas),
    tokens,
    ...optionalTimestamp('last_used_at', lastUsedAt),
  }
}

export function crossedLimitsProblem({ min, minValue, max, maxValue }: CrossedLimits): Problem {
  return problem('limitsCrossed', { min: limitNames[min], minValue, max: limitNames[max], maxValue })
}
