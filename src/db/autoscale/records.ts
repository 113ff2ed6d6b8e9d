import type { EntityManager } from '@mikro-orm/postgresql'
import { leastDrainMs } from '../../domain/autoscale/alignment.ts'
import { hostGoneAfterMs } from '../../domain/autoscale/members.ts'
import type { AutoscaleMember } from '../../domain/autoscale/members.ts'
import type { AutoscaleConfiguration } from '../../domain/autoscale/policy.ts'
import type { AutoscaleSettings } from '../../domain/autoscale/settings.ts'
import { nodeSilentAfterMs } from '../../domain/host/api-protocol.ts'
import type { InstanceSettings } from '../../domain/instance/settings.ts'
import { autoscaleSettings, autoscaleSettingsColumns } from './settings.ts'
import type { AutoscaleSettingsRow } from './settings.ts'
import type { Database } from '../database.ts'
import { instanceColumns } from '../instance/row.ts'
import type { InstanceRow } from '../instance/row.ts'
import { markStarted, readDeleted, readUnstarted } from '../workflow-rows.ts'
import type { SweepBounds, WorkflowTable } from '../workflow-rows.ts'
import { workflowSettings } from '../instance/settings.ts'

// What the workflows of autoscale configurations, their observers and the sweep read.

const table = {
  name: 'autoscale_configurations',
  key: 'service_uuid',
  columns: autoscaleSettingsColumns,
} satisfies WorkflowTable

/** Configurations in force whose workflow nobody is known to have started, oldest first. */
export async function findUnstartedAutoscales(
  database: Database,
  bounds: SweepBounds,
): Promise<readonly AutoscaleSettings[]> {
  const inForce = { ...table, only: 'deleted_at is null' }
  return (await readUnstarted<AutoscaleSettingsRow>(database, inForce, bounds)).map(autoscaleSettings)
}

/** Configurations that are marked deleted and whose row is still there, longest deleted first. */
export async function findDeletedAutoscales(
  database: Database,
  bounds: SweepBounds,
): Promise<readonly AutoscaleSettings[]> {
  return (await readDeleted<AutoscaleSettingsRow>(database, table, bounds)).map(autoscaleSettings)
}

/** Notes that the workflows of these services' configurations run. */
export async function markAutoscaleStarted(
  database: Database,
  serviceUuids: readonly string[],
): Promise<void> {
  await markStarted(database, table, serviceUuids)
}

/** A clone that autoscale gives back, as its workflow has to hear it. */
export interface RetiredClone {
  readonly settings: InstanceSettings
  /** How long it may drain. */
  readonly drainMs: number
}

/** Clones that are given back and not deleted yet, those first that are it longest. */
export async function findRetiredClones(
  database: Database,
  bounds: SweepBounds,
): Promise<readonly RetiredClone[]> {
  const rows = await database.rows<RetiredRow>({
    name: 'find-retired-clones',
    text: `select ${retiredColumns} from instances
           where retired_at < now() - make_interval(secs => $1) and deleted_at is null
           order by retired_at limit $2`,
    values: [bounds.olderThanMs / 1_000, bounds.limit],
  })
  return rows.map(retiredClone)
}

/** Of these, in no order, those that are given back and not deleted yet. */
export async function findRetiredAmong(
  database: Database,
  uuids: readonly string[],
): Promise<readonly RetiredClone[]> {
  const rows = await database.rows<RetiredRow>({
    name: 'find-retired-among',
    text: `select ${retiredColumns} from instances
           where uuid = any($1::uuid[]) and retired_at is not null and deleted_at is null`,
    values: [uuids],
  })
  return rows.map(retiredClone)
}

type RetiredRow = InstanceRow & { readonly drainMs: number }
const retiredColumns = `${instanceColumns}, coalesce(retire_drain_ms, 0) as "drainMs"`

function retiredClone(row: RetiredRow): RetiredClone {
  return { settings: workflowSettings(row), drainMs: Math.max(row.drainMs, leastDrainMs) }
}

/** Services that have a configuration which is not deleted, in no order. */
export async function listAutoscaledServices(database: Database): Promise<readonly string[]> {
  const rows = await database.rows<{ readonly serviceUuid: string }>({
    name: 'list-autoscaled-services',
    text: 'select service_uuid as "serviceUuid" from autoscale_configurations where deleted_at is null',
  })
  return rows.map(({ serviceUuid }) => serviceUuid)
}

/** A service that is scaled, as its observer sees it. */
export interface AutoscaledService {
  readonly serviceUuid: string
  readonly masterUuid: string
  readonly configuration: AutoscaleConfiguration
  /** The master and its clones, in the order in which they were made; none that is deleted or given back. */
  readonly members: readonly AutoscaleMember[]
}

/**
 * One look at many services, by one query: those of `serviceUuids` that have a configuration which is not
 * deleted. Cheap enough for thousands of services in a second.
 */
export async function readAutoscaleMembers(
  database: Database,
  serviceUuids: readonly string[],
): Promise<readonly AutoscaledService[]> {
  const rows = await database.rows<ServiceRow>({
    name: 'read-autoscale-members',
    text: `select c.service_uuid as "serviceUuid", c.master_uuid as "masterUuid", c.min_size as "minSize",
             c.max_size as "maxSize", c.warmup_ms as "warmupMs", c.cooldown_ms as "cooldownMs", c.policies, m.members
           from autoscale_configurations c, lateral (${membersSql}) as m
           where c.service_uuid = any($1::uuid[]) and c.deleted_at is null and c.master_uuid is not null`,
    values: [serviceUuids],
  })
  return rows.map(({ serviceUuid, masterUuid, members, ...configuration }) => ({
    serviceUuid,
    masterUuid,
    configuration,
    members: membersIn(members, masterUuid),
  }))
}

type ServiceRow = AutoscaleConfiguration & {
  readonly serviceUuid: string
  readonly masterUuid: string
  /** Null where there are none. */
  readonly members: readonly MemberColumns[] | null
}

/** In a transaction: those of one service, in the order in which they were made. */
export async function lookAtMembers(
  em: EntityManager,
  { serviceUuid, masterUuid }: { readonly serviceUuid: string; readonly masterUuid: string },
): Promise<readonly AutoscaleMember[]> {
  const [row] = await em.execute<Pick<ServiceRow, 'members'>[]>(
    `select m.members from autoscale_configurations c, lateral (${membersSql}) as m where c.service_uuid = ?`,
    [serviceUuid],
  )
  return membersIn(row?.members ?? null, masterUuid)
}

/**
 * Positional, which is half the bytes: there are thousands of them every second. Moments are in milliseconds.
 */
type MemberColumns = readonly [
  uuid: string,
  name: string,
  nodeId: string,
  state: AutoscaleMember['state'],
  stateSinceMs: number,
  createdAtMs: number,
  startedAtMs: number | null,
  startCount: number,
  restartAttempt: number,
  restartNextAtMs: number | null,
  failure: string | null,
  isHostLost: boolean,
  isHostGone: boolean,
]

function msOf(column: string): string {
  return `(date_part('epoch', ${column}) * 1000)::bigint`
}

/**
 * When a host was heard that had been heard all the while for as long as makes a silent one count as gone.
 * Silence says nothing of a host where nobody listened: after an outage of the API or of this whole machine,
 * all have to be heard again first.
 */
const lastSteadyHeartbeatSql = `
  select max(heartbeat_at) from nodes where heard_since <= heartbeat_at - interval '${hostGoneAfterMs} milliseconds'`

/** Of the configuration `c`. */
const membersSql = `
  select json_agg(json_build_array(i.uuid, i.name, i.node_id, i.state, ${msOf('i.state_since')},
      ${msOf('i.created_at')}, ${msOf('i.started_at')}, i.start_count, i.restart_attempt, ${msOf('i.restart_next_at')}, i.failure,
      n.heartbeat_at < now() - interval '${nodeSilentAfterMs} milliseconds',
      coalesce(n.heartbeat_at < (${lastSteadyHeartbeatSql}) - interval '${hostGoneAfterMs} milliseconds', false)
    ) order by i.position) as members
  from instances i join nodes n on n.id = i.node_id
  where i.service_uuid = c.service_uuid and i.deleted_at is null and i.retired_at is null
    and (i.uuid = c.master_uuid or i.clone_of = c.master_uuid)`

function membersIn(members: ServiceRow['members'], masterUuid: string): readonly AutoscaleMember[] {
  return (members ?? []).map((member) => autoscaleMember(member, masterUuid))
}

function autoscaleMember(columns: MemberColumns, masterUuid: string): AutoscaleMember {
  const [uuid, name, nodeId, state, stateSinceMs, createdAtMs, startedAtMs, ...rest] = columns
  const [startCount, restartAttempt, nextAtMs, failure, isHostLost, isHostGone] = rest
  return {
    uuid,
    name,
    isMaster: uuid === masterUuid,
    nodeId,
    state,
    stateSinceMs,
    createdAtMs,
    startCount,
    restartAttempt,
    ...(startedAtMs !== null && { startedAtMs }),
    ...(nextAtMs !== null && { restartNextAtMs: nextAtMs }),
    ...(failure !== null && { failure }),
    ...(isHostLost && { isHostLost }),
    ...(isHostGone && { isHostGone }),
  }
}
