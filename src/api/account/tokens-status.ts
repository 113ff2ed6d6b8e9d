import type { getTokens } from '../../contract/account/token-operations.ts'
import { listOwnTokens } from '../../db/account/tokens.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { forEachNamed } from '../named-objects.ts'
import { ownTokens } from './token-objects.ts'
import { presentToken } from './token-view.ts'

/** The properties of the named tokens, or of all; if of all, the entries have no `status` of their own. */
export function tokensStatus(deps: Pick<ApiDeps, 'database'>): Handler<typeof getTokens> {
  return async ({ objects }, call) => {
    if (objects.length === 0) {
      const tokens = await listOwnTokens(deps.database, call.identity.userUuid)
      return { entries: tokens.map(presentToken) }
    }
    const entries = await forEachNamed(ownTokens, { deps, call }, objects, async (token) => ({
      status: 'success' as const,
      ...presentToken(token),
    }))
    return { entries }
  }
}
