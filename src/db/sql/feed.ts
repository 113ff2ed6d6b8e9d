import { sql } from 'kysely'
import type { RawBuilder } from 'kysely'
import { releasedSecret } from '../host/hosts.ts'

// The queries of the change feed, which `src/db/service/feed-read.ts` explains. They are text because the
// query builder can neither compare transaction numbers (`xid8`) nor ask PostgreSQL which transactions are
// under way. The feed's own tables (`feed_gone`, `feed_forgotten`) have no entities, because only triggers
// add to them. Everything is read in one statement, so that it comes from one snapshot.

/** One row of the feed. */
export interface FeedRow {
  readonly kind: string
  readonly id: string
  /**
   * The last transaction that changed the row. A row that is read again with the same `xid` has not changed.
   */
  readonly xid: string
  /** Null: the row is gone, or does not concern this reader any more. */
  readonly body: Readonly<Record<string, unknown>> | null
}

/** Selects of `kind, id, xid, body`, separated by `union all`. */
export type FeedQuery = RawBuilder<FeedRow>

/** The right side of a condition on `feed_xid` or `xid`: the row was changed since the reader's revision. */
const sinceRevision = sql`>= (select coalesce(since, '0') from frame)`
/**
 * Whether the read goes on from a revision. Rows that are gone concern only such a reader, because it may
 * know them.
 */
const isResumed = sql`(select since is not null from frame)`

/**
 * The name of the running server with its database. Transaction numbers are valid there alone, and only
 * until the server is started again.
 */
const identity = sql`(extract(epoch from pg_postmaster_start_time()) * 1000000)::bigint::text || '-' ||
  (select oid::text from pg_database where datname = current_database())`

/**
 * The rows of a query since a revision. Before them comes one row of kind `frame`: its `id` is the revision
 * for the next read, and its body says whether the rows are everything.
 */
export function feedSince(
  query: FeedQuery,
  since: { readonly serverId: string | null; readonly xid: string | null },
): RawBuilder<FeedRow> {
  const { serverId, xid } = since
  return sql`with current as materialized (
      select ${identity} as identity, pg_snapshot_xmin(pg_current_snapshot()) as xmin
    ), frame as materialized (
      select identity || '.' || xmin::text as revision,
        case when ${serverId}::text = identity and ${xid}::text::xid8 <= xmin
            and ${xid}::text::xid8 > (select xid from feed_forgotten) then ${xid}::text::xid8 end as since
      from current
    )
    select 'frame' as kind, revision as id, '' as xid, json_build_object('snapshot', since is null) as body from frame
    union all ${query}`
}

/** All rows that a gateway needs, of every user. */
export const routesQuery: FeedQuery = sql`
    select 'node', id, feed_xid::text,
      case when agent_secret <> ${releasedSecret}
        then json_build_object('agentUrl', agent_url, 'agentSecret', agent_secret, 'subnet', subnet) end
    from nodes where feed_xid ${sinceRevision}
    union all
    select 'certificate', uuid::text, feed_xid::text,
      json_build_object('commonName', common_name, 'state', state, 'chain', chain, 'keySealed', key_sealed)
    from certificates where feed_xid ${sinceRevision}
    union all
    select 'challenge', id, feed_xid::text, json_strip_nulls(json_build_object('token', id, 'kind', kind, 'fqdn', fqdn,
      'keyAuthorization', key_authorization, 'chain', chain, 'keySealed', key_sealed))
    from acme_challenges where feed_xid ${sinceRevision}
    union all
    select 'metro', id, feed_xid::text, json_build_object('chain', chain, 'keySealed', key_sealed)
    from metro_certificates where feed_xid ${sinceRevision}
    union all
    select 'service', uuid::text, feed_xid::text, json_strip_nulls(json_build_object('uuid', uuid,
      'userUuid', user_uuid, 'name', name,
      'ports', ports, 'softLimit', soft_limit, 'hardLimit', hard_limit,
      'rollout', case when rollout_uuid is not null
        then json_build_object('uuid', rollout_uuid, 'percent', rollout_percent, 'held', rollout_held) end,
      'domains', (select coalesce(json_agg(json_strip_nulls(json_build_object(
          'fqdn', fqdn, 'certificateUuid', certificate_uuid)) order by ordinal, fqdn), '[]')
        from domains where service_uuid = services.uuid)))
    from services where feed_xid ${sinceRevision}
    union all
    select 'instance', uuid::text, feed_xid::text,
      case when deleted_at is null and service_uuid is not null
        then json_strip_nulls(json_build_object('uuid', uuid, 'name', name, 'serviceUuid', service_uuid,
          'nodeId', node_id, 'state', case when restarting then 'starting' else state end,
          'isNext', case when rollout_uuid is not null then true end)) end
    from instances where feed_xid ${sinceRevision}
      and (${isResumed} or (deleted_at is null and service_uuid is not null))
    union all
    select what, id, xid::text, null from feed_gone where ${isResumed} and xid ${sinceRevision}`

/**
 * The names that a host needs: those of its own instances, and of all instances of their users on other
 * hosts. Nothing is told of users who have no instance on the host; the reader forgets such users by itself.
 * A user may be new to the reader: then all the user's instances here are new, and those elsewhere are told
 * too, however old they are.
 *
 * `offset 0` has PostgreSQL find the new users first, and then their instances. It would else look through
 * the instances of everybody for some that are of a new user, as long as it takes the table for small.
 */
export function namesQuery(nodeId: string): FeedQuery {
  const name = sql`'name', uuid::text, feed_xid::text,
      case when deleted_at is null
        then json_strip_nulls(json_build_object('uuid', uuid, 'userUuid', user_uuid, 'name', name, 'privateIp', private_ip,
          'isElsewhere', case when node_id <> ${nodeId} then true end)) end`
  const usersHere = sql`select user_uuid from instances where node_id = ${nodeId} and deleted_at is null`
  return sql`
      select ${name} from instances
        where feed_xid ${sinceRevision} and (node_id = ${nodeId} or user_uuid in (${usersHere}))
        and (${isResumed} or deleted_at is null)
      union all
      select elsewhere.* from (${usersHere} and ${isResumed}
          group by user_uuid having bool_and(feed_xid ${sinceRevision}) offset 0) as added,
        lateral (select ${name} from instances
          where user_uuid = added.user_uuid and deleted_at is null and node_id <> ${nodeId}
            and (feed_xid ${sinceRevision}) is not true offset 0) as elsewhere
      union all
      select 'name', id, xid::text, null from feed_gone
      where ${isResumed} and xid ${sinceRevision} and what = 'instance'
        and (node_id = ${nodeId} or user_uuid in (${usersHere}))`
}

/** What a name has of an instance, whichever host reads it. */
const nameParts = sql`'uuid', uuid, 'userUuid', user_uuid, 'name', name, 'privateIp', private_ip, 'nodeId', node_id`

/**
 * What `namesQuery` tells all hosts together, for one reader that divides it among them. `name` is an
 * instance that changed, `gone` one whose row is deleted. `user` tells of each user of these on which hosts
 * the user has instances, with the lowest `feed_xid` of them, and all instances that did not change, if the
 * user may be new to one of these hosts. Without a revision there are no rows.
 */
export const changedNamesQuery: FeedQuery = sql`
    select 'name', uuid::text, feed_xid::text,
      json_strip_nulls(json_build_object(${nameParts}, 'isDeleted', case when deleted_at is not null then true end))
    from instances where ${isResumed} and feed_xid ${sinceRevision}
    union all
    select 'gone', id, xid::text, json_strip_nulls(json_build_object('nodeId', node_id, 'userUuid', user_uuid))
    from feed_gone where ${isResumed} and xid ${sinceRevision} and what = 'instance'
    union all
    select 'user', touched.user_uuid::text, '', json_strip_nulls(json_build_object('hosts', hosts,
      'before', case when is_added then (
        select json_agg(json_build_object(${nameParts}, 'xid', feed_xid::text)) from instances
        where user_uuid = touched.user_uuid and deleted_at is null and (feed_xid ${sinceRevision}) is not true) end))
    from (select user_uuid from instances where ${isResumed} and feed_xid ${sinceRevision}
        union select user_uuid from feed_gone where ${isResumed} and xid ${sinceRevision} and user_uuid is not null) as touched,
      lateral (select json_object_agg(node_id, first_xid) as hosts, bool_or(first_xid ${sinceRevision}) as is_added from (
        select node_id, min(feed_xid) as first_xid from instances
        where user_uuid = touched.user_uuid and deleted_at is null group by node_id offset 0) as on_hosts) as placed`

/**
 * Deletes entries of `feed_gone` from before `at`, and notes up to which transaction they are forgotten.
 * Returns one row with the number of deleted entries.
 */
export function forgetGoneBefore(at: RawBuilder<Date>): RawBuilder<{ readonly count: number }> {
  return sql`with old as (delete from feed_gone where at < ${at} returning xid),
      latest as (select xid from old order by xid desc limit 1),
      noted as (update feed_forgotten set xid = latest.xid from latest where feed_forgotten.xid < latest.xid)
    select count(*) as count from old`
}
