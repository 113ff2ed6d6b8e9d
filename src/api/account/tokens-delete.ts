import type { deleteTokens } from '../../contract/account/token-operations.ts'
import { revokeToken } from '../../db/account/tokens.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { forEachNamed } from '../named-objects.ts'
import { ownTokens } from './token-objects.ts'

/** Revokes tokens of the account, even the one of the request. */
export function tokensDelete(deps: Pick<ApiDeps, 'database'>): Handler<typeof deleteTokens> {
  return async ({ objects }, call) => {
    const entries = await forEachNamed(ownTokens, { deps, call }, objects, async ({ uuid, label }) => {
      await revokeToken(deps.database, uuid, { userUuid: call.identity.userUuid, asker: call.asker })
      return { status: 'success' as const, uuid, label }
    })
    return { entries }
  }
}
