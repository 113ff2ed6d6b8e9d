import { AskerKind } from '../../domain/event/asker.ts'
import type { News } from '../../domain/event/news.ts'
import { UserEventKind } from '../../domain/event/user-event-kind.ts'
import type { InstanceSettings } from '../../domain/instance/settings.ts'
import type { Database } from '../database.ts'
import { insertNewsOfChanged } from '../event/write.ts'
import { anyOf } from '../sql/lists.ts'
import { ago, now } from '../sql/time.ts'
import type { SweepBounds } from '../workflow-rows.ts'
import { countNotified } from './channel.ts'
import { markInstanceDeleted } from './deletion.ts'
import { instanceColumns } from './row.ts'
import { workflowSettings } from './settings.ts'

/** Instances whose workflow is not known to have been started, oldest first. */
export async function findUnstarted(
  { db }: Database,
  bounds: SweepBounds,
): Promise<readonly InstanceSettings[]> {
  const rows = await db
    .selectFrom('instances')
    .select(instanceColumns)
    .where('workflowStartedAt', 'is', null)
    .where('createdAt', '<', ago(bounds.olderThanMs))
    .orderBy('createdAt')
    .limit(bounds.limit)
    .execute()
  return rows.map(workflowSettings)
}

/** Instances of whose last change their workflow is not known to have heard, oldest first. */
export async function findUntold(
  { db }: Database,
  bounds: SweepBounds,
): Promise<readonly InstanceSettings[]> {
  const rows = await db
    .selectFrom('instances')
    .select(instanceColumns)
    .whereRef('configVersion', '>', 'toldVersion')
    .where('createdAt', '<', ago(bounds.olderThanMs))
    .where('deletedAt', 'is', null)
    .orderBy('createdAt')
    .limit(bounds.limit)
    .execute()
  return rows.map(workflowSettings)
}

/** Notes that these instances' workflows run. */
export async function markWorkflowStarted({ db }: Database, uuids: readonly string[]): Promise<void> {
  await db
    .updateTable('instances')
    .set({ workflowStartedAt: now })
    .where('uuid', '=', anyOf(uuids))
    .where('workflowStartedAt', 'is', null)
    .execute()
}

/** Instances that are marked deleted and whose row is still there, longest deleted first. */
export async function findDeletedRows(
  { db }: Database,
  bounds: SweepBounds,
): Promise<readonly InstanceSettings[]> {
  const rows = await db
    .selectFrom('instances')
    .select(instanceColumns)
    .where('deletedAt', '<', ago(bounds.olderThanMs))
    .orderBy('deletedAt')
    .limit(bounds.limit)
    .execute()
  return rows.map(workflowSettings)
}

/**
 * Marks an instance deleted because its workflow found that it is to be deleted when it stops. All that goes
 * with any delete is deleted with it. Idempotent.
 */
export async function markEphemeralDeleted({ db }: Database, uuid: string): Promise<void> {
  const reason = { why: 'it has stopped for good, and is deleted then', asker: { by: AskerKind.Policy } }
  await db.transaction().execute((db) => markInstanceDeleted(db, { uuid, reason }))
}

/**
 * Deletes the row. Called once nothing of the instance is left on its host; its address can be given out
 * again then. Idempotent.
 */
export async function removeInstanceRow({ db }: Database, uuid: string): Promise<void> {
  await db
    .with('changed', (db) =>
      db.deleteFrom('instances').where('uuid', '=', uuid).returning(['uuid', 'name', 'userUuid']),
    )
    .with('told', (db) => insertNewsOfChanged(db, [removed]))
    .selectFrom('changed')
    .select((eb) => countNotified(eb.ref('changed.uuid')).as('count'))
    .execute()
}

const removed: News = {
  kind: UserEventKind.InstanceRemoved,
  why: 'nothing of it is left on its host',
  asker: { by: AskerKind.Host },
}
