import { RequestError, problem } from '../contract/errors.ts'
import type { Page } from '../contract/request/parsed-request.ts'
import type { ListPage } from '../db/identifiers.ts'
import { listPosition } from '../db/list-position.ts'
import type { List } from '../db/list-position.ts'
import type { Call } from './call.ts'
import type { ApiDeps } from './deps.ts'

/**
 * Turns a page into the terms of the database. The entry after which the page begins may be deleted by now,
 * but it must have belonged to the user.
 */
export async function listPage(
  deps: Pick<ApiDeps, 'database'>,
  call: Call,
  { page, list, kind }: { readonly page: Page; readonly list: List; readonly kind: string },
): Promise<ListPage> {
  const { count, offset, after } = page
  const size = count === undefined ? {} : { count }
  if (after === undefined) return offset === undefined ? size : { ...size, from: offset }
  const { userUuid, services } = call.identity
  const afterPosition = await listPosition(deps.database, { list, userUuid, services, uuid: after })
  if (afterPosition === undefined) {
    const reason = `no ${kind} with uuid '${after}', nor was it deleted lately: read the list from its beginning`
    throw new RequestError([problem('invalidContent', { name: 'from', place: 'the query', reason })])
  }
  return { ...size, afterPosition }
}
