import type { getQuotas } from '../../contract/operations.ts'
import { readQuotas } from '../../db/account/quotas.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { missingEntry } from '../failed-entry.ts'
import { presentQuotas } from './view.ts'

/**
 * The quotas of the caller. In local scope no other user can be named: any other user is answered like one
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
