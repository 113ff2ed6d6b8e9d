import type { Database } from '../database.ts'
import { feedSince, forgetGoneBefore } from '../sql/feed.ts'
import type { FeedQuery, FeedRow } from '../sql/feed.ts'
import { ago } from '../sql/time.ts'

/**
 * The change feed: the rows of services, instances, nodes, challenges and certificates, with that of the
 * metro domain, that a reader does not know yet.
 *
 * Each row has `feed_xid`, the number of the last transaction that changed anything that the feed shows of
 * the row. Triggers write it; changes that the feed does not show, such as boot times, leave it as it is. A
 * deleted row leaves an entry in `feed_gone`.
 *
 * A read returns, from one snapshot, all rows whose transaction number is the revision or a later one. It
 * also returns the revision for the next read, which is the number of the oldest transaction that was still
 * under way. So a transaction with a low number that commits late is not missed, whatever the order of the
 * commits. In exchange, rows may be read again, which is harmless.
 *
 * Transaction numbers are valid on one running server only. So a revision also names the server, by the time
 * of its start and the database. After another start, a failover or a restored backup the reader gets
 * everything again.
 */
export interface FeedRead {
  /** Whether `rows` is everything there is, because `since` was absent or is not valid any more. */
  readonly snapshot: boolean
  /** The value for `since` of the next read. It is opaque to the reader. */
  readonly revision: string
  readonly rows: readonly FeedRow[]
}

/**
 * The channel on which the triggers notify of changes. The payload has the topics that a change concerns.
 */
export const feedChannel = 'roost_feed'
export const feedTopics = ['routes', 'names'] as const
export type FeedTopic = (typeof feedTopics)[number]

/** The form of a revision. A text of another form counts as no revision. */
const revisionPattern = /^(\d{1,20}-\d{1,10})\.(\d{1,19})$/

/** The parts of a revision. Undefined if the text is none. */
export function readRevision(text: string): { readonly serverId: string; readonly xid: string } | undefined {
  const [, serverId, xid] = revisionPattern.exec(text) ?? []
  return serverId === undefined || xid === undefined ? undefined : { serverId, xid }
}

export async function readFeed(
  { db }: Database,
  query: FeedQuery,
  since: string | undefined,
): Promise<FeedRead> {
  const { serverId = null, xid = null } = readRevision(since ?? '') ?? {}
  const { rows: found } = await feedSince(query, { serverId, xid }).execute(db)
  const frame = found.find((row) => row.kind === 'frame')
  if (!frame) throw new Error('the feed was read without its frame')
  return {
    snapshot: frame.body?.['snapshot'] === true,
    revision: frame.id,
    rows: withoutRevived(found.filter((row) => row !== frame)),
  }
}

/**
 * The rows without entries of `feed_gone` whose object exists again: the id of a node may be used again, and
 * then its row counts.
 */
function withoutRevived(rows: readonly FeedRow[]): readonly FeedRow[] {
  const present = new Set(rows.flatMap((row) => (row.body === null ? [] : [keyOf(row)])))
  return rows.filter((row) => row.body !== null || !present.has(keyOf(row)))
}

export function keyOf({ kind, id }: FeedRow): string {
  return `${kind}/${id}`
}

/**
 * How long deleted rows are remembered. Gateways and hosts are rarely away for longer; a reader that is away
 * longer gets everything again.
 */
const rememberGoneMs = 3_600_000

/**
 * Deletes old entries of `feed_gone`, so that their number is bounded. Returns how many were deleted. Any
 * number of processes may call this at any time.
 */
export async function forgetGone(
  { db }: Database,
  options: { readonly rememberMs?: number } = {},
): Promise<number> {
  const { rows } = await forgetGoneBefore(ago(options.rememberMs ?? rememberGoneMs)).execute(db)
  return rows[0]?.count ?? 0
}
