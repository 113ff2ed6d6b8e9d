import type { Database } from '../database.ts'
import { feedSince, forgetGoneBefore } from '../sql/feed.ts'
import type { FeedQuery, FeedRow } from '../sql/feed.ts'
import { ago } from '../sql/time.ts'

/**
 * The change feed: what of the rows of services, instances, nodes and certificates a reader does not know
 * yet.
 *
 * Each row has `feed_xid`, the transaction that last changed what the feed shows of it; triggers keep it (and
 * only where such a thing changed: usage and boot times do not count). Rows that are deleted leave one in
 * `feed_gone`. A read answers, from one snapshot, all rows from a revision on, and the revision of the next
 * read: the oldest transaction that was still under way. So a transaction with a low number that commits late
 * is not missed, whatever the order of the commits; in exchange rows may be read again, which is harmless.
 *
 * Numbers of transactions mean something to one running server only. A revision therefore names it by the
 * time of its start and the database: after another start, a failover or a restored backup everything is told
 * again.
 */
export interface FeedRead {
  /** Everything there is, because `since` was absent, or leads nowhere any more. */
  readonly snapshot: boolean
  /** Opaque: for `since` of the next read. */
  readonly revision: string
  readonly rows: readonly FeedRow[]
}

/** Where the triggers tell of changes; the payload has the topics that they concern. */
export const feedChannel = 'roost_feed'
export const feedTopics = ['routes', 'names'] as const
export type FeedTopic = (typeof feedTopics)[number]

/** A revision is a number at most this large and a little more: anything longer was not made here. */
const revisionPattern = /^(\d{1,20}-\d{1,10})\.(\d{1,19})$/

export async function readFeed(
  { db }: Database,
  query: FeedQuery,
  since: string | undefined,
): Promise<FeedRead> {
  const [, serverId = null, xid = null] = revisionPattern.exec(since ?? '') ?? []
  const { rows: found } = await feedSince(query, { serverId, xid }).execute(db)
  const frame = found.find((row) => row.kind === 'frame')
  if (!frame) throw new Error('the feed was read without its frame')
  return {
    snapshot: frame.body?.['snapshot'] === true,
    revision: frame.id,
    rows: withoutRevived(found.filter((row) => row !== frame)),
  }
}

/** A node's id may come back: then the row tells what is, and what is left of its end tells nothing. */
function withoutRevived(rows: readonly FeedRow[]): readonly FeedRow[] {
  const present = new Set(rows.flatMap((row) => (row.body === null ? [] : [keyOf(row)])))
  return rows.filter((row) => row.body !== null || !present.has(keyOf(row)))
}

export function keyOf({ kind, id }: FeedRow): string {
  return `${kind}/${id}`
}

/** Longer than gateways and hosts are away for as a rule; who stays away longer is told everything again. */
const rememberGoneMs = 3_600_000

/** Bounds what deleted rows leave behind. Any number of processes may call it, any time. */
export async function forgetGone(
  { db }: Database,
  options: { readonly rememberMs?: number } = {},
): Promise<number> {
  const { rows } = await forgetGoneBefore(ago(options.rememberMs ?? rememberGoneMs)).execute(db)
  return rows[0]?.count ?? 0
}
