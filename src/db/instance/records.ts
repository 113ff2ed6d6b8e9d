import type { Database } from '../database.ts'
import {
  deleteClonesSql,
  deleteImplicitServiceSql,
  deleteImplicitVolumeSql,
  deletedInstances,
  lockOwnerSql,
} from '../service/implicit-service.ts'
import { notifyInstanceSql } from './channel.ts'
import { instanceColumns } from './row.ts'
import type { InstanceRow } from './row.ts'
import { markStarted, readDeleted, readUnstarted } from '../workflow-rows.ts'
import type { SweepBounds, WorkflowTable } from '../workflow-rows.ts'
import { workflowSettings } from './settings.ts'
import type { InstanceSettings } from '../../domain/instance/settings.ts'

const table = { name: 'instances', columns: instanceColumns } satisfies WorkflowTable

/** Instances whose workflow nobody is known to have started, oldest first. */
export async function findUnstarted(
  database: Database,
  bounds: SweepBounds,
): Promise<readonly InstanceSettings[]> {
  return (await readUnstarted<InstanceRow>(database, table, bounds)).map(workflowSettings)
}

/** Notes that these instances' workflows run. */
export async function markWorkflowStarted(database: Database, uuids: readonly string[]): Promise<void> {
  await markStarted(database, table, uuids)
}

/** Instances that are marked deleted and whose row is still there, longest deleted first. */
export async function findDeletedRows(
  database: Database,
  bounds: SweepBounds,
): Promise<readonly InstanceSettings[]> {
  return (await readDeleted<InstanceRow>(database, table, bounds)).map(workflowSettings)
}

/**
 * Makes an instance invisible that deletes itself when it stops, and with it what goes with it in every
 * delete. Idempotent.
 */
export async function markEphemeralDeleted(database: Database, uuid: string): Promise<void> {
  await database.em().transactional(async (em) => {
    await em.execute(lockOwnerSql, [uuid])
    await em.execute(
      `with marked as (update instances set deleted_at = now() where uuid = ? and deleted_at is null
          returning uuid, service_uuid, volume_uuid),
        ${deleteImplicitServiceSql},
        ${deleteImplicitVolumeSql},
        ${deleteClonesSql}
       ${notifyInstanceSql(deletedInstances)}`,
      [uuid],
    )
  })
}

/**
 * Deletes the row, once nothing of the instance is left on its host: its address can be given out again.
 * Idempotent.
 */
export async function removeInstanceRow(database: Database, uuid: string): Promise<void> {
  await database.rows({
    name: 'remove-instance-row',
    text: `with removed as (delete from instances where uuid = $1 returning uuid)
           ${notifyInstanceSql('removed')}`,
    values: [uuid],
  })
}
