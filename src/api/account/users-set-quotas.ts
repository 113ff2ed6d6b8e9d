import { setUserQuotas } from '../../contract/account/user-operations.ts'
import type { FailedEntry } from '../../contract/envelope.ts'
import { requestError } from '../../contract/errors.ts'
import type { Problem } from '../../contract/errors.ts'
import type { OperationBody } from '../../contract/operation.ts'
import type { UserOverview } from '../../db/account/user-overview.ts'
import { setQuotas } from '../../db/account/users.ts'
import type { QuotaChange } from '../../db/account/users.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { missingEntry } from '../failed-entry.ts'
import { givenNumbers, limitNames, quotaNames } from './quota-names.ts'
import { forEachUser, userKind } from './user-objects.ts'
import { crossedLimitsProblem, presentUser } from './user-view.ts'

/** Changes the quotas and limits that the request gives. */
export function usersSetQuotas(deps: Pick<ApiDeps, 'database'>): Handler<typeof setUserQuotas> {
  return async ({ objects }, call) => {
    const changes = objects.map(({ target, parameters }) => ({
      ...(target && { target }),
      parameters: changeOf(parameters),
    }))
    if (changes.some(({ parameters }) => changesNothing(parameters)))
      throw requestError('missingBody', { place: setUserQuotas.place })
    const entries = await forEachUser(deps, call, changes, async (user, change) => {
      const outcome = await setQuotas(deps.database, user.name, { ...change, asker: call.asker })
      if (outcome.ok) {
        const { hard, limits } = outcome.user
        const quotas = { ...user.quotas, hard, limits }
        return { status: 'success' as const, ...presentUser({ ...user, quotas }) }
      }
      const { refusal } = outcome
      if (refusal.kind === 'no-user') return missingEntry(userKind, { by: 'uuid', value: user.uuid })
      return failedUser(user, crossedLimitsProblem(refusal))
    })
    return { entries }
  }
}

type Change = Required<Pick<QuotaChange, 'hard' | 'limits'>>

function changeOf({ hard, limits }: OperationBody<typeof setUserQuotas>): Change {
  return { hard: givenNumbers(quotaNames, hard), limits: givenNumbers(limitNames, limits) }
}

function changesNothing({ hard, limits }: Change): boolean {
  return Object.keys(hard).length + Object.keys(limits).length === 0
}

function failedUser({ uuid, name }: UserOverview, wrong: Problem): FailedEntry {
  return { status: 'error', uuid, name, message: wrong.message, error: wrong.code }
}
