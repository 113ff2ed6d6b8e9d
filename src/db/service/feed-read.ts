import type { Database } from '../database.ts'

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

export interface FeedRow {
  readonly kind: string
  readonly id: string
  /** Equal for the same row: it was read before and has not changed. */
  readonly xid: string
  /** Null: it is gone, or of no interest to this reader any more. */
  readonly body: Readonly<Record<string, unknown>> | null
}

export interface FeedQuery {
  readonly name: string
  /** Selects of `kind, id, xid, body`, separated by `union all`; `$3` and on are `values`. */
  readonly rows: string
  readonly values?: readonly unknown[]
}

/** A condition on `feed_xid` or `xid`. */
export const sinceRevision = `>= (select coalesce(since, '0') from frame)`
/** For rows that are of interest only to who may have heard of them. */
export const isResumed = `(select since is not null from frame)`

const identity = `(extract(epoch from pg_postmaster_start_time()) * 1000000)::bigint::text || '-' ||
  (select oid::text from pg_database where datname = current_database())`

/** A revision is a number at most this large and a little more: anything longer was not made here. */
const revisionPattern = /^(\d{1,20}-\d{1,10})\.(\d{1,19})$/

export async function readFeed(
  database: Pick<Database, 'rows'>,
  query: FeedQuery,
  since: string | undefined,
): Promise<FeedRead> {
  const [, serverId = null, xid = null] = revisionPattern.exec(since ?? '') ?? []
  const found = await database.rows<FeedRow>({
    name: `feed-${query.name}`,
    text: `with current as materialized (
        select ${identity} as identity, pg_snapshot_xmin(pg_current_snapshot()) as xmin
      ), frame as materialized (
        select identity || '.' || xmin::text as revision,
          case when $1 = identity and $2::text::xid8 <= xmin
              and $2::text::xid8 > (select xid from feed_forgotten) then $2::text::xid8 end as since
        from current
      )
      select 'frame' as kind, revision as id, '' as xid, json_build_object('snapshot', since is null) as body from frame
      union all ${query.rows}`,
    values: [serverId, xid, ...(query.values ?? [])],
  })
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
  database: Pick<Database, 'rows'>,
  options: { readonly rememberMs?: number } = {},
): Promise<number> {
  const [forgotten] = await database.rows<{ count: number }>({
    name: 'feed-forget',
    text: `with old as (delete from feed_gone where at < now() - make_interval(secs => $1) returning xid),
        latest as (select xid from old order by xid desc limit 1),
        noted as (update feed_forgotten set xid = latest.xid from latest where feed_forgotten.xid < latest.xid)
      select count(*) as count from old`,
    values: [(options.rememberMs ?? rememberGoneMs) / 1_000],
  })
  return forgotten?.count ?? 0
}
