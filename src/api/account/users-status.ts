import type { getUsers } from '../../contract/account/user-operations.ts'
import { RequestError, problem } from '../../contract/errors.ts'
import type { Page } from '../../contract/request/parsed-request.ts'
import { overlookUsers } from '../../db/account/user-overview.ts'
import type { UserOverview } from '../../db/account/user-overview.ts'
import { isUuid } from '../../domain/object-name.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { forEachUser } from './user-objects.ts'
import { presentUser } from './user-view.ts'

/** The named accounts, or all; if all, the entries have no `status` of their own. */
export function usersStatus(deps: Pick<ApiDeps, 'database'>): Handler<typeof getUsers> {
  return async ({ objects, page }, call) => {
    if (objects.length === 0) {
      const users = call.identity.admin ? await readPage(deps, page) : []
      return { entries: users.map(presentUser) }
    }
    const entries = await forEachUser(deps, call, objects, async (user) => ({
      status: 'success' as const,
      ...presentUser(user),
    }))
    return { entries }
  }
}

async function readPage(
  { database }: Pick<ApiDeps, 'database'>,
  { count, offset, after }: Page,
): Promise<readonly UserOverview[]> {
  const users =
    after !== undefined && !isUuid(after)
      ? undefined
      : await overlookUsers(database, {
          ...(count !== undefined && { count }),
          ...(offset !== undefined && { from: offset }),
          ...(after !== undefined && { after }),
        })
  if (users !== undefined) return users
  const reason = `no user with uuid '${after}': read the list from its beginning`
  throw new RequestError([problem('invalidContent', { name: 'from', place: 'the query', reason })])
}
