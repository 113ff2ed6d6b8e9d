import { RequestError, problem } from '../contract/errors.ts'
import { ListOrder } from '../contract/request/parsed-request.ts'
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
  const { count, offset, after, isInclusive, order } = page
  const newestFirst = order === ListOrder.NewestFirst
  const part = { ...(count !== undefined && { count }), ...(newestFirst && { newestFirst }) }
  if (after === undefined) return offset === undefined ? part : { ...part, from: offset }
  const { userUuid, services } = call.identity
  const afterPosition = await listPosition(deps.database, { list, userUuid, services, uuid: after })
  if (afterPosition === undefined) {
    const reason = `no ${kind} with uuid '${after}', nor was it deleted lately: read the list from its beginning`
    throw new RequestError([problem('invalidContent', { name: 'from', place: 'the query', reason })])
  }
  // Positions are whole numbers, so the neighbour's place is before the entry itself.
  const neighbour = newestFirst ? afterPosition + 1 : afterPosition - 1
  return { ...part, afterPosition: isInclusive ? neighbour : afterPosition }
}
