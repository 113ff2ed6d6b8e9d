import { InstanceState } from '../../domain/instance/state.ts'
import { closedReport } from '../../domain/autoscale/report.ts'
import type { DecisionReport } from '../../domain/autoscale/report.ts'
import type { InstanceSettings } from '../../domain/instance/settings.ts'
import { insertNewsOfChanged } from '../event/write.ts'
import { retiredNews } from './retired-events.ts'
import { keepDecision } from './decisions.ts'
import { lockAutoscale } from './lock.ts'
import type { LockedAutoscale } from './lock.ts'
import { findRetiredAmong } from './records.ts'
import type { RetiredClone } from './records.ts'
import type { Database } from '../database.ts'
import { countNotified } from '../instance/channel.ts'
import { findByUuids } from '../instance/instances.ts'
import { workflowSettings } from '../instance/settings.ts'
import type { Db } from '../schema/tables.ts'
import { now } from '../sql/time.ts'

export type Closing =
  /**
   * `over`: the configuration's row does not exist any more. `kept`: the service was configured again
   * meanwhile.
   */
  | { readonly kind: 'over' | 'kept' }
  | {
      readonly kind: 'closing'
      /** All clones that are given back and not deleted yet. */
      readonly retired: readonly RetiredClone[]
      /**
       * Present if the master is stopped and has to be started. Repeated requests have this same id, so that
       * the master starts once.
       */
      readonly start?: { readonly master: InstanceSettings; readonly requestId: string }
    }

/**
 * Gives back all clones of a configuration that is deleted, and says whether its master has to be started.
 * The call may be repeated: the decision is kept once. No workflow is told.
 */
export async function closeClones(database: Database, serviceUuid: string): Promise<Closing> {
  const closed = await database.db.transaction().execute((db) => close(db, serviceUuid))
  if (typeof closed === 'string') return { kind: closed }
  const retired = await findRetiredAmong(database, closed.retired)
  const [master] = await findByUuids(database, closed.stopped)
  if (master === undefined) return { kind: 'closing', retired }
  const start = { master: workflowSettings(master), requestId: closed.requestId }
  return { kind: 'closing', retired, start }
}

async function close(db: Db, serviceUuid: string) {
  const locked = await lockAutoscale(db, serviceUuid)
  if (locked === undefined) return 'over'
  const { deletedAt, cooldownMs } = locked
  if (deletedAt === null) return 'kept'
  await db
    .with('changed', (db) =>
      db
        .updateTable('instances')
        .set({ retiredAt: now, retireDrainMs: cooldownMs })
        .where('serviceUuid', '=', serviceUuid)
        .where('cloneOf', 'is not', null)
        .where('retiredAt', 'is', null)
        .where('deletedAt', 'is', null)
        .returning(['uuid', 'name', 'userUuid']),
    )
    .with('told', (db) => insertNewsOfChanged(db, [retiredNews]))
    .selectFrom('changed')
    .select((eb) => countNotified(eb.ref('uuid')).as('told'))
    .execute()
  const retired = await db
    .selectFrom('instances')
    .select((eb) => ['uuid', 'name', eb('retiredAt', '>=', deletedAt).as('isNews')])
    .where('serviceUuid', '=', serviceUuid)
    .where('cloneOf', 'is not', null)
    .where('deletedAt', 'is', null)
    .orderBy('position')
    .execute()
  const master = await lookAtMaster(db, locked)
  const after = master === undefined ? 0 : 1
  const givenBack = retired.filter(({ isNews }) => isNews).map(({ name }) => name)
  await keepOnce(db, { service: locked.service, deletedAt }, closedReport({ after, givenBack }))
  return {
    retired: retired.map(({ uuid }) => uuid),
    stopped: master?.isStopped === true ? [master.uuid] : [],
    requestId: `close/${serviceUuid}/${deletedAt.getTime()}`,
  }
}

/**
 * Reads whether the master is stopped; undefined if it is deleted. A master that is about to stop counts as
 * stopped, because its workflow remembers a start until it has stopped. A master that waits for its restart
 * does not count as stopped, because it starts by itself. `liveReservedUntil` does not matter here: the
 * process that reserved a start, perhaps for this very closing, may have died before it asked for the start.
 */
async function lookAtMaster(
  db: Db,
  { masterUuid }: LockedAutoscale,
): Promise<{ readonly uuid: string; readonly isStopped: boolean } | undefined> {
  if (masterUuid === null) return undefined
  const master = await db
    .selectFrom('instances')
    .select(['uuid', 'state', 'restartNextAt'])
    .where('uuid', '=', masterUuid)
    .where('deletedAt', 'is', null)
    .executeTakeFirst()
  if (master === undefined) return undefined
  const { uuid, state, restartNextAt } = master
  return { uuid, isStopped: stoppedStates.has(state) && restartNextAt === null }
}

const stoppedStates: ReadonlySet<InstanceState> = new Set([
  InstanceState.Stopped,
  InstanceState.Stopping,
  InstanceState.Draining,
])

/** Keeps the decision of the closing, unless one was kept since the configuration was deleted. */
async function keepOnce(
  db: Db,
  { service, deletedAt }: { readonly service: LockedAutoscale['service']; readonly deletedAt: Date },
  report: DecisionReport,
): Promise<void> {
  const kept = await db
    .selectFrom('autoscaleDecisions')
    .select('position')
    .where('serviceUuid', '=', service.uuid)
    .where('at', '>=', deletedAt)
    .where((eb) => eb(eb.ref('report', '->>').key('cause').key('kind'), '=', 'closed'))
    .limit(1)
    .executeTakeFirst()
  if (kept === undefined) await keepDecision(db, service, report)
}

/**
 * Removes the row of a deleted configuration once all clones are given back. If the workflow of a clone was
 * not told yet, the sweep tells it. False if the row is still needed, for example because the service was
 * configured again. Idempotent.
 */
export async function removeAutoscaleRow({ db }: Database, serviceUuid: string): Promise<boolean> {
  const there = db
    .selectFrom('autoscaleConfigurations')
    .select('serviceUuid')
    .where('serviceUuid', '=', serviceUuid)
  const staying = db
    .selectFrom('instances')
    .select('uuid')
    .where('serviceUuid', '=', serviceUuid)
    .where('cloneOf', 'is not', null)
    .where('retiredAt', 'is', null)
    .where('deletedAt', 'is', null)
  const { isGone } = await db
    .with('removed', (db) =>
      db
        .deleteFrom('autoscaleConfigurations')
        .where('serviceUuid', '=', serviceUuid)
        .where('deletedAt', 'is not', null)
        .where((eb) => eb.not(eb.exists(staying)))
        .returning('serviceUuid'),
    )
    .selectNoFrom((eb) => {
      const removed = eb.selectFrom('removed').select('serviceUuid')
      return eb.or([eb.exists(removed), eb.not(eb.exists(there))]).as('isGone')
    })
    .executeTakeFirstOrThrow()
  return isGone === true
}
