import { LockMode } from '@mikro-orm/postgresql'
import { InstanceState } from '../../domain/instance/state.ts'
import { isUuid } from '../../domain/object-name.ts'
import { findQuotaExcess, liveDemand } from '../../domain/account/quotas.ts'
import type { QuotaExcess } from '../../domain/account/quotas.ts'
import type { ScaleToZero } from '../../domain/standby/scale-to-zero.ts'
import type { Database } from '../database.ts'
import { User } from '../schema/user.ts'
import { findMemoryLackOn } from '../host/memory.ts'
import type { MemoryLack } from '../host/memory.ts'
import { notifyInstanceSql } from './channel.ts'
import { instanceColumns, instanceRow } from './row.ts'
import type { InstanceRow, ToldInstance } from './row.ts'
import { liveCondition, quotaReport, usedQuotasSql } from '../account/quotas.ts'
import type { UsedQuotas } from '../account/quotas.ts'
import {
  deleteClonesSql,
  deleteImplicitServiceSql,
  deleteImplicitVolumeSql,
  deletedInstances,
  lockOwnerSql,
} from '../service/implicit-service.ts'

/** How a request names an object. Names are given as `parseObjectName` returns them. */
export type Identifier = { readonly uuid: string } | { readonly name: string }

/** A part of a list, which is in the order of creation. */
export interface ListPage {
  /** Absent: all. */
  readonly count?: number
  /** How many of the first ones are left out. */
  readonly from?: number
  /** Only those that were created after the one with this `position`. */
  readonly afterPosition?: number
}

export interface InstanceFilter extends ListPage {
  /** Absent: in whatever state. */
  readonly states?: readonly InstanceState[]
  /** With `states`: instances that count as in another state than their row says. */
  readonly insteadOfRows?: ReadonlyMap<string, InstanceState>
}

/**
 * How long a start that was admitted keeps its place in the live quotas without having reached a state of its
 * own: longer than any update takes, short enough that an API process that died between the two is soon
 * forgotten.
 */
const liveReservationMs = 30_000

/** The user's instances, in the order of `identifiers`; undefined for each that this user does not have. */
export async function findInstances(
  database: Database,
  userUuid: string,
  identifiers: readonly Identifier[],
): Promise<readonly (InstanceRow | undefined)[]> {
  // PostgreSQL would fail the whole query for one text that is no UUID.
  const uuids = identifiers.flatMap((one) => ('uuid' in one && isUuid(one.uuid) ? [one.uuid] : []))
  const names = identifiers.flatMap((one) => ('name' in one ? [one.name] : []))
  const rows = await database.rows<InstanceRow>({
    name: 'find-instances',
    // One look into the index per identifier. As one condition with an `or` the planner reads all that the
    // user has; `offset 0` keeps it from merging the parts into such a one again.
    text: `select ${instanceColumns} from (
             select found.* from unnest($2::uuid[]) as wanted (uuid),
               lateral (select * from instances where uuid = wanted.uuid offset 0) as found
             union all
             select found.* from unnest($3::text[]) as wanted (name),
               lateral (select * from instances
                 where user_uuid = $1 and name = wanted.name and deleted_at is null offset 0) as found
           ) as named where user_uuid = $1 and deleted_at is null`,
    values: [userUuid, uuids, names],
  })
  const byUuid = new Map(rows.map((row) => [row.uuid, row]))
  const byName = new Map(rows.map((row) => [row.name, row]))
  return identifiers.map((one) => ('uuid' in one ? byUuid.get(one.uuid.toLowerCase()) : byName.get(one.name)))
}

/** The user's instances in the order of their creation. */
export async function listInstances(
  database: Database,
  userUuid: string,
  filter: InstanceFilter = {},
): Promise<readonly InstanceRow[]> {
  return database.rows<InstanceRow>(listQuery({ select: instanceColumns, name: 'list' }, userUuid, filter))
}

/** As `listInstances`, but only what a plain list shows: a tenth of the bytes. */
export async function listInstanceNames(
  database: Database,
  userUuid: string,
  filter: InstanceFilter = {},
): Promise<readonly Pick<InstanceRow, 'uuid' | 'name'>[]> {
  return database.rows<InstanceRow>(listQuery({ select: 'uuid, name', name: 'names' }, userUuid, filter))
}

/** What a host is asked with, of the user's instances in these states. */
export async function listPlacements(
  database: Database,
  userUuid: string,
  states: readonly InstanceState[],
): Promise<readonly Pick<InstanceRow, 'uuid' | 'nodeId' | 'state' | 'boot'>[]> {
  const select = 'uuid, node_id as "nodeId", state, boot'
  return database.rows<InstanceRow>(listQuery({ select, name: 'placements' }, userUuid, { states }))
}

function listQuery(
  query: { readonly select: string; readonly name: string },
  userUuid: string,
  filter: InstanceFilter,
) {
  const page = [userUuid, filter.count ?? null, filter.from ?? 0, filter.afterPosition ?? 0]
  const { states, insteadOfRows = new Map<string, InstanceState>() } = filter
  const others = [...insteadOfRows]
  const wanted = others.flatMap(([uuid, state]) => (states?.includes(state) ? [uuid] : []))
  const byState = 'and ((state = any($5::text[]) and uuid <> all($6::uuid[])) or uuid = any($7::uuid[]))'
  return {
    name: `${query.name}-instances${states === undefined ? '' : '-by-state'}`,
    text: `select ${query.select} from instances where user_uuid = $1 and deleted_at is null and position > $4
           ${states === undefined ? '' : byState} order by position limit $2 offset $3`,
    values: states === undefined ? page : [...page, states, others.map(([uuid]) => uuid), wanted],
  }
}

/** Whosever they are, in the order of `uuids`; those that are gone or deleted are left out. */
export async function findByUuids(
  database: Database,
  uuids: readonly string[],
): Promise<readonly InstanceRow[]> {
  const rows = await database.rows<InstanceRow>({
    name: 'instances-by-uuid',
    text: `select ${instanceColumns} from instances where uuid = any($1::uuid[]) and deleted_at is null`,
    values: [uuids],
  })
  const byUuid = new Map(rows.map((row) => [row.uuid, row]))
  return uuids.flatMap((uuid) => byUuid.get(uuid) ?? [])
}

/**
 * Makes the user's instance invisible, frees its name and quota, and answers the row as it was; undefined
 * where the user has none such, so of two deletes at once one finds it. A service that was made with the
 * instance alone goes in the same moment, and so does its volume unless that is persistent
 * (`findDeletedVolume` answers it then), and so do the configuration that it is the master of and all clones
 * of it (`findGoneWithMaster`). The hosts are cleaned by the workflows of all.
 */
export async function markDeleted(
  database: Database,
  userUuid: string,
  uuid: string,
): Promise<InstanceRow | undefined> {
  return database.em().transactional(async (em) => {
    await em.execute(lockOwnerSql, [uuid])
    const [told] = await em.execute<ToldInstance[]>(
      `with marked as (update instances set deleted_at = now()
          where uuid = ? and user_uuid = ? and deleted_at is null returning *),
        ${deleteImplicitServiceSql},
        ${deleteImplicitVolumeSql},
        ${deleteClonesSql},
        notified as (${notifyInstanceSql(deletedInstances)})
       select ${instanceColumns} from marked, notified`,
      [uuid, userUuid],
    )
    return told && instanceRow(told)
  })
}

export type ReserveOutcome = { readonly ok: true } | { readonly ok: false; readonly refusal: StartRefusal }

export type StartRefusal =
  | { readonly kind: 'quota'; readonly excess: QuotaExcess }
  | { readonly kind: 'not-found' }
  /** Its host is full. */
  | { readonly kind: 'no-memory'; readonly lack: MemoryLack }
  /** Autoscale is giving it back. */
  | { readonly kind: 'retired' }

interface Startable {
  readonly memoryMb: number
  readonly vcpus: number
  readonly scaleToZero: ScaleToZero
  readonly live: boolean
  readonly state: InstanceState
  readonly nodeId: string
  readonly retired: boolean
}

/**
 * Admits a start: under the lock of the user's row, checks the live quotas and, of one that has no VM, the
 * memory of its host; keeps the place for a while, within which the state says so itself. An instance that is
 * live already needs none.
 */
export async function reserveLive(
  database: Database,
  userUuid: string,
  uuid: string,
): Promise<ReserveOutcome> {
  return database.em().transactional(async (em): Promise<ReserveOutcome> => {
    const user = await em.findOne(User, { uuid: userUuid }, { lockMode: LockMode.PESSIMISTIC_WRITE })
    const [instance] = await em.execute<Startable[]>(
      `select memory_mb as "memoryMb", vcpus, ${liveCondition} as "live", state, node_id as "nodeId", retired_at is not null as retired,
         json_build_object('policy', standby_policy, 'cooldownMs', standby_cooldown_ms,
           'stateful', standby_stateful) as "scaleToZero"
       from instances where uuid = ? and user_uuid = ? and deleted_at is null`,
      [uuid, userUuid],
    )
    if (!user || !instance) return { ok: false, refusal: { kind: 'not-found' } }
    if (instance.retired) return { ok: false, refusal: { kind: 'retired' } }
    if (!instance.live) {
      const [used] = await em.execute<UsedQuotas[]>(usedQuotasSql, [userUuid])
      const excess = findQuotaExcess(quotaReport(user, used), liveDemand(instance, 1))
      if (excess) return { ok: false, refusal: { kind: 'quota', excess } }
    }
    if (instance.state === InstanceState.Stopped || instance.state === InstanceState.Standby) {
      const lack = await findMemoryLackOn(em, instance.nodeId, instance.memoryMb)
      if (lack) return { ok: false, refusal: { kind: 'no-memory', lack } }
    }
    await em.execute(
      'update instances set live_reserved_until = now() + make_interval(secs => ?) where uuid = ?',
      [liveReservationMs / 1_000, uuid],
      'run',
    )
    return { ok: true }
  })
}

/** Gives the place back, where the start came to nothing. */
export async function releaseLive(database: Database, uuid: string): Promise<void> {
  await database.rows({
    name: 'release-live',
    text: 'update instances set live_reserved_until = null where uuid = $1',
    values: [uuid],
  })
}
