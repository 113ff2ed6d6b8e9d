import type { EntityManager } from '@mikro-orm/postgresql'
import { closedReport } from '../../domain/autoscale/report.ts'
import type { DecisionReport } from '../../domain/autoscale/report.ts'
import type { InstanceSettings } from '../../domain/instance/settings.ts'
import { keepDecision } from './decisions.ts'
import { lockAutoscale } from './lock.ts'
import type { LockedAutoscale } from './lock.ts'
import { findRetiredAmong } from './records.ts'
import type { RetiredClone } from './records.ts'
import type { Database } from '../database.ts'
import { notifyInstanceSql } from '../instance/channel.ts'
import { findByUuids } from '../instance/instances.ts'
import { workflowSettings } from '../instance/settings.ts'

export type Closing =
  /** `over`: there is no configuration any more; `kept`: the service was configured again meanwhile. */
  | { readonly kind: 'over' | 'kept' }
  | {
      readonly kind: 'closing'
      /** All clones that are given back and still there. */
      readonly retired: readonly RetiredClone[]
      /** To be started, because it is stopped; with this id, so that it is started once. */
      readonly start?: { readonly master: InstanceSettings; readonly requestId: string }
    }

/**
 * Gives all clones of a configuration back that is deleted, and says whether its master has to be started.
 * May be repeated: it is written down once. No workflow is told.
 */
export async function closeClones(database: Database, serviceUuid: string): Promise<Closing> {
  const closed = await database.em().transactional((em) => close(em, serviceUuid))
  if (typeof closed === 'string') return { kind: closed }
  const retired = await findRetiredAmong(database, closed.retired)
  const [master] = await findByUuids(database, closed.stopped)
  if (master === undefined) return { kind: 'closing', retired }
  const start = { master: workflowSettings(master), requestId: closed.requestId }
  return { kind: 'closing', retired, start }
}

async function close(em: EntityManager, serviceUuid: string) {
  const locked = await lockAutoscale(em, serviceUuid)
  if (locked === undefined) return 'over'
  const { deletedAtMs, cooldownMs } = locked
  if (deletedAtMs === null) return 'kept'
  await em.execute(
    `with changed as (update instances set retired_at = now(), retire_drain_ms = ?
       where service_uuid = ? and clone_of is not null and retired_at is null and deleted_at is null returning uuid)
     ${notifyInstanceSql('changed')}`,
    [cooldownMs, serviceUuid],
  )
  const retired = await em.execute<{ uuid: string; name: string; isNews: boolean }[]>(
    `select i.uuid, i.name, i.retired_at >= c.deleted_at as "isNews"
     from instances i join autoscale_configurations c using (service_uuid)
     where service_uuid = ? and i.clone_of is not null and i.deleted_at is null order by i.position`,
    [serviceUuid],
  )
  const master = await lookAtMaster(em, locked)
  const after = master === undefined ? 0 : 1
  const givenBack = retired.filter(({ isNews }) => isNews).map(({ name }) => name)
  await keepOnce(em, serviceUuid, closedReport({ after, givenBack }))
  return {
    retired: retired.map(({ uuid }) => uuid),
    stopped: master?.isStopped === true ? [master.uuid] : [],
    requestId: `close/${serviceUuid}/${deletedAtMs}`,
  }
}

/**
 * Undefined where it is deleted. One that is about to stop is stopped: a start is remembered until it has. A
 * place that is kept for a start says nothing: whoever kept it, perhaps this very closing, may have died
 * before it asked for the start. One that starts by itself again is left to that.
 */
async function lookAtMaster(
  em: EntityManager,
  { masterUuid }: LockedAutoscale,
): Promise<{ readonly uuid: string; readonly isStopped: boolean } | undefined> {
  const [master] = await em.execute<{ uuid: string; isStopped: boolean }[]>(
    `select uuid, state in ('stopped', 'stopping', 'draining') and restart_next_at is null as "isStopped"
     from instances where uuid = ? and deleted_at is null`,
    [masterUuid],
  )
  return master
}

async function keepOnce(em: EntityManager, serviceUuid: string, report: DecisionReport): Promise<void> {
  const [kept] = await em.execute<object[]>(
    `select 1 from autoscale_decisions d join autoscale_configurations c using (service_uuid)
     where service_uuid = ? and d.at >= c.deleted_at and d.report->'cause'->>'kind' = 'closed' limit 1`,
    [serviceUuid],
  )
  if (kept === undefined) await keepDecision(em, serviceUuid, report)
}

/**
 * Removes the row of a deleted configuration whose clones are all given back: those that have not heard of it
 * hear it from the sweep. False where the row is needed still, as when the service was configured again.
 * Idempotent.
 */
export async function removeAutoscaleRow(database: Database, serviceUuid: string): Promise<boolean> {
  const [row] = await database.rows<{ isGone: boolean }>({
    name: 'remove-autoscale-row',
    text: `with removed as (delete from autoscale_configurations
             where service_uuid = $1 and deleted_at is not null and not exists (select 1 from instances
               where service_uuid = $1 and clone_of is not null and retired_at is null and deleted_at is null)
             returning 1)
           select exists (select 1 from removed)
             or not exists (select 1 from autoscale_configurations where service_uuid = $1) as "isGone"`,
    values: [serviceUuid],
  })
  return row?.isGone === true
}
