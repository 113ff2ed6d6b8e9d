import { RequestError, problem } from '../contract/errors.ts'
import type { Page } from '../contract/parsed-request.ts'
import type { ListPage } from '../db/instances.ts'

/** A page in the terms of the database. The entry that a page begins after has to exist. */
export async function listPage(
  page: Page,
  kind: string,
  positionOf: (uuid: string) => Promise<number | undefined>,
): Promise<ListPage> {
  const { count, offset, after } = page
  const size = count === undefined ? {} : { count }
  if (after === undefined) return offset === undefined ? size : { ...size, from: offset }
  const afterPosition = await positionOf(after)
  if (afterPosition === undefined) {
    const reason = `no ${kind} with uuid '${after}'`
    throw new RequestError([problem('invalidContent', { name: 'from', place: 'the query', reason })])
  }
  return { ...size, afterPosition }
}
