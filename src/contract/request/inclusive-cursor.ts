import { isUuid } from '../../domain/object-name.ts'
import type { Page } from './parsed-request.ts'

/**
 * The SDK in Python. All its releases ask for a page that begins with the last entry that they have, and
 * leave that entry out themselves. The SDK in JavaScript asks for the same pages in the same words, and shows
 * each entry that it gets. Nothing but this header tells the two apart.
 */
const inclusiveClient = /^unikraft-cloud-python\b/

/** The page as its client means it: `from` is the last entry before the page, or its first one. */
export function pageFor(userAgent: string | undefined, page: Page): Page {
  const isInclusive = inclusiveClient.test(userAgent ?? '') && isUuid(page.after ?? '')
  return isInclusive ? { ...page, isInclusive } : page
}

/**
 * The entries of a page for its client. If `from` is deleted and nothing is behind it, an inclusive client
 * would take the empty page for a list that lost its place: it would look for the entries that it read
 * before, show one of them again, or fail because they are deleted, too. So the page has an entry with that
 * UUID, which the client leaves out, and then the client is at the end.
 */
export function entriesFor<Entry>(
  { isInclusive, after }: Page,
  entries: readonly Entry[],
): readonly (Entry | { readonly uuid: string; readonly name: string })[] {
  if (isInclusive === undefined || after === undefined || entries.length > 0) return entries
  return [{ uuid: after, name: '' }]
}
