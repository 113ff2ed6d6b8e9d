import type { ExpressionBuilder } from 'kysely'
import { leastDrainMs } from '../../domain/autoscale/alignment.ts'
import { hostGoneAfterMs } from '../../domain/autoscale/members.ts'
import type { AutoscaleMember } from '../../domain/autoscale/members.ts'
import type { AutoscaleConfiguration } from '../../domain/autoscale/policy.ts'
import type { AutoscaleSettings } from '../../domain/autoscale/settings.ts'
import { AskerKind } from '../../domain/event/asker.ts'
import type { Asker } from '../../domain/event/asker.ts'
import type { InstanceSettings } from '../../domain/instance/settings.ts'
import { autoscaleSettings, selectAutoscaleSettings } from './settings.ts'
import type { Database } from '../database.ts'
import { isLive } from '../host/live.ts'
import { instanceColumns } from '../instance/row.ts'
import type { InstanceRow } from '../instance/row.ts'
import { workflowSettings } from '../instance/settings.ts'
import type { Db, Row, Tables } from '../schema/tables.ts'
import { anyOf } from '../sql/lists.ts'
import { ago, before, now } from '../sql/time.ts'
import type { SweepBounds } from '../workflow-rows.ts'

// Queries for the workflows of autoscale configurations, for their observers and for the sweep.

/**
 * Configurations that are not deleted and whose workflow is not known to have been started, oldest first.
 */
export async function findUnstartedAutoscales(
  { db }: Database,
  bounds: SweepBounds,
): Promise<readonly AutoscaleSettings[]> {
  const rows = await selectAutoscaleSettings(db)
    .where('autoscaleConfigurations.deletedAt', 'is', null)
    .where('autoscaleConfigurations.workflowStartedAt', 'is', null)
    .where('autoscaleConfigurations.createdAt', '<', ago(bounds.olderThanMs))
    .orderBy('autoscaleConfigurations.createdAt')
    .limit(bounds.limit)
    .execute()
  return rows.map(autoscaleSettings)
}

/** Configurations that are marked deleted and whose row is still there, longest deleted first. */
export async function findDeletedAutoscales(
  { db }: Database,
  bounds: SweepBounds,
): Promise<readonly AutoscaleSettings[]> {
  const rows = await selectAutoscaleSettings(db)
    .where('autoscaleConfigurations.deletedAt', '<', ago(bounds.olderThanMs))
    .orderBy('autoscaleConfigurations.deletedAt')
    .limit(bounds.limit)
    .execute()
  return rows.map(autoscaleSettings)
}

/** Notes that the workflows of these services' configurations run. */
export async function markAutoscaleStarted({ db }: Database, serviceUuids: readonly string[]): Promise<void> {
  await db
    .updateTable('autoscaleConfigurations')
    .set({ workflowStartedAt: now })
    .where('serviceUuid', '=', anyOf(serviceUuids))
    .where('workflowStartedAt', 'is', null)
    .execute()
}

/** A clone or another instance that is given back, and what its workflow has to be told. */
export interface RetiredClone {
  readonly settings: InstanceSettings
  /** How long it may drain. */
  readonly drainMs: number
  /** Who gives it back. Absent: autoscale. */
  readonly asker?: Asker
}

/** Clones that are given back and not deleted yet, in the order in which they were given back. */
export async function findRetiredClones(
  { db }: Database,
  bounds: SweepBounds,
): Promise<readonly RetiredClone[]> {
  const rows = await db
    .selectFrom('instances')
    .select(retiredColumns)
    .where('retiredAt', '<', ago(bounds.olderThanMs))
    .where('deletedAt', 'is', null)
    .orderBy('retiredAt')
    .limit(bounds.limit)
    .execute()
  return rows.map(retiredClone)
}

/** Those of these instances that are given back and not deleted yet, in no particular order. */
export async function findRetiredAmong(
  { db }: Database,
  uuids: readonly string[],
): Promise<readonly RetiredClone[]> {
  const rows = await db
    .selectFrom('instances')
    .select(retiredColumns)
    .where('uuid', '=', anyOf(uuids))
    .where('retiredAt', 'is not', null)
    .where('deletedAt', 'is', null)
    .execute()
  return rows.map(retiredClone)
}

const retiredColumns = [...instanceColumns, 'retireDrainMs'] as const

function retiredClone(row: InstanceRow & Pick<Row<'instances'>, 'retireDrainMs'>): RetiredClone {
  return {
    settings: workflowSettings(row),
    drainMs: Math.max(row.retireDrainMs ?? 0, leastDrainMs),
    ...(row.rolloutUuid !== null && { asker: { by: AskerKind.Rollout } }),
  }
}

/** Services that have a configuration which is not deleted, in no particular order. */
export async function listAutoscaledServices({ db }: Database): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('autoscaleConfigurations')
    .select('serviceUuid')
    .where('deletedAt', 'is', null)
    .execute()
  return rows.map(({ serviceUuid }) => serviceUuid)
}

/** An autoscaled service as its observer sees it. */
export interface AutoscaledService {
  readonly serviceUuid: string
  readonly masterUuid: string
  readonly configuration: AutoscaleConfiguration
  /**
   * The master and its clones in the order in which they were made, without those that are deleted or given
   * back.
   */
  readonly members: readonly AutoscaleMember[]
}

/**
 * Reads those of `serviceUuids` that have a configuration which is not deleted. One query reads all of them,
 * which is cheap enough for thousands of services in a second.
 */
export async function readAutoscaleMembers(
  { db }: Database,
  serviceUuids: readonly string[],
): Promise<readonly AutoscaledService[]> {
  const rows = await db
    .selectFrom('autoscaleConfigurations')
    .where('serviceUuid', '=', anyOf(serviceUuids))
    .where('deletedAt', 'is', null)
    .where('masterUuid', 'is not', null)
    .select(['serviceUuid', 'masterUuid', 'minSize', 'maxSize', 'warmupMs', 'cooldownMs', 'policies'])
    .select((eb) => membersOf(eb).as('members'))
    .$narrowType<{ masterUuid: string }>()
    .execute()
  return rows.map(({ serviceUuid, masterUuid, members, ...configuration }) => ({
    serviceUuid,
    masterUuid,
    configuration,
    members: membersIn(members, masterUuid),
  }))
}

/** The members of one service as a transaction sees them, in the order in which they were made. */
export async function lookAtMembers(
  db: Db,
  { serviceUuid, masterUuid }: { readonly serviceUuid: string; readonly masterUuid: string },
): Promise<readonly AutoscaleMember[]> {
  const row = await db
    .selectFrom('autoscaleConfigurations')
    .where('serviceUuid', '=', serviceUuid)
    .select((eb) => membersOf(eb).as('members'))
    .executeTakeFirst()
  return membersIn(row?.members ?? null, masterUuid)
}

/**
 * A member as an array of JSON. An object with names would have twice the bytes, and thousands of members
 * are read every second. Times are in milliseconds.
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

/** The members of each configuration, as one value of JSON that is null where there are none. */
function membersOf(eb: ExpressionBuilder<Tables, 'autoscaleConfigurations'>) {
  return eb
    .selectFrom('instances')
    .innerJoin('nodes', 'nodes.id', 'instances.nodeId')
    .whereRef('instances.serviceUuid', '=', 'autoscaleConfigurations.serviceUuid')
    .where('instances.deletedAt', 'is', null)
    .where('instances.retiredAt', 'is', null)
    .where((eb) => {
      const masterUuid = eb.ref('autoscaleConfigurations.masterUuid')
      return eb.or([eb('instances.uuid', '=', masterUuid), eb('instances.cloneOf', '=', masterUuid)])
    })
    .select((eb) =>
      eb.fn
        .agg<readonly MemberColumns[] | null>('json_agg', [eb.fn('json_build_array', memberColumns(eb))])
        .orderBy('instances.position')
        .as('members'),
    )
}

/** The columns of one member, in the order of `MemberColumns`. */
function memberColumns(eb: ExpressionBuilder<Tables, 'instances' | 'nodes'>) {
  const ms = (column: 'stateSince' | 'createdAt' | 'startedAt' | 'restartNextAt') => {
    const seconds = eb.fn<number>('date_part', [eb.val('epoch'), `instances.${column}`])
    return eb.cast<number>(eb(seconds, '*', 1_000), 'bigint')
  }
  const goneBefore = before(lastSteadyHeartbeat(eb), hostGoneAfterMs)
  return [
    'instances.uuid',
    'instances.name',
    'instances.nodeId',
    'instances.state',
    ms('stateSince'),
    ms('createdAt'),
    ms('startedAt'),
    'instances.startCount',
    'instances.restartAttempt',
    ms('restartNextAt'),
    'instances.failure',
    eb.not(isLive(eb)),
    eb.or([
      eb('nodes.lostAt', 'is not', null),
      eb.fn.coalesce(eb('nodes.heartbeatAt', '<', goneBefore), eb.lit(false)),
    ]),
  ] as const
}

/**
 * The latest heartbeat of any host that had sent heartbeats without a pause for `hostGoneAfterMs` by then.
 * The silence of a host is measured up to this time and not up to now, because silence means nothing while
 * the API did not listen. After an outage of the API or of this whole machine, no further host counts as
 * gone until some host has been heard for `hostGoneAfterMs` again.
 */
function lastSteadyHeartbeat(eb: ExpressionBuilder<Tables, 'nodes'>) {
  return eb
    .selectFrom('nodes as heard')
    .where((eb) => eb('heard.heardSince', '<=', before(eb.ref('heard.heartbeatAt'), hostGoneAfterMs)))
    .select((eb) => eb.fn.max('heard.heartbeatAt').as('at'))
    .$asScalar()
}

function membersIn(members: readonly MemberColumns[] | null, masterUuid: string): readonly AutoscaleMember[] {
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
