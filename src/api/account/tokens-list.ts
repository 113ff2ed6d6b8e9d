import type { listTokens } from '../../contract/account/token-operations.ts'
import { listOwnTokens } from '../../db/account/tokens.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { presentToken } from './token-view.ts'

/** All tokens of the account. */
export function tokensList(deps: Pick<ApiDeps, 'database'>): Handler<typeof listTokens> {
  return async (_request, { identity }) => {
    const tokens = await listOwnTokens(deps.database, identity.userUuid)
    return { entries: tokens.map(presentToken) }
  }
}
