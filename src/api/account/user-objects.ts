import type { FailedEntry } from '../../contract/envelope.ts'
import type { RequestObject } from '../../contract/request/parsed-request.ts'
import { findUsers } from '../../db/account/user-overview.ts'
import type { UserOverview } from '../../db/account/user-overview.ts'
import type { Call } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { forEachNamed } from '../named-objects.ts'

/** The word for accounts in messages. */
export const userKind = 'user'

/**
 * Does `work` with each account that the request names, as `forEachNamed` does. To an account that is not an
 * administrator's it looks as if there were none, not even itself.
 */
export async function forEachUser<B, E>(
  deps: Pick<ApiDeps, 'database'>,
  call: Call,
  objects: readonly RequestObject<B>[],
  work: (user: UserOverview, parameters: B) => Promise<E | FailedEntry>,
): Promise<readonly (E | FailedEntry)[]> {
  const users = {
    kind: userKind,
    find: async (
      database: Parameters<typeof findUsers>[0],
      _reach: unknown,
      identifiers: Parameters<typeof findUsers>[1],
    ) => (call.identity.admin ? findUsers(database, identifiers) : identifiers.map(() => undefined)),
  }
  return forEachNamed(users, { deps, call }, objects, work)
}
