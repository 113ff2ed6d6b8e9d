import type { getQuotas } from '../../contract/operations.ts'
import { readQuotas } from '../../db/account/quotas.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { missingEntry } from '../failed-entry.ts'
import { presentQuotas } from './view.ts'

/**
 * Returns the quotas of the caller. A path can not name another user: the answer is the same as for a user
 * that does not exist.
 */
export function usersQuotas(deps: ApiDeps): Handler<typeof getQuotas> {
  return async ({ objects }, { identity }) => {
    const target = objects[0]?.target
    const own = target?.by === 'uuid' ? identity.userUuid : identity.userName
    if (target !== undefined && target.value !== own) return { entries: [missingEntry('user', target)] }
    const report = await readQuotas(deps.database, identity.userUuid)
    if (report === undefined)
      return { entries: [missingEntry('user', { by: 'uuid', value: identity.userUuid })] }
    return { entries: [presentQuotas(report)] }
  }
}
