import type { Database } from './database.ts'
import { notifyInstanceSql } from './instance-channel.ts'
import { instanceColumns } from './instance-row.ts'
import type { InstanceRow } from './instance-row.ts'
import { workflowSettings } from './workflow-settings.ts'
import type { InstanceSettings } from '../domain/instance-settings.ts'

export interface SweepBounds {
  /** Younger ones are left to the process that made them. */
  readonly olderThanMs: number
  /** At most as many at a time; the next sweep takes the rest. */
  readonly limit: number
}

/** Instances whose workflow nobody is known to have started, oldest first. */
export async function findUnstarted(
  database: Database,
  bounds: SweepBounds,
): Promise<readonly InstanceSettings[]> {
  const rows = await database.rows<InstanceRow>({
    name: 'find-unstarted',
    text: `select ${instanceColumns} from instances
           where workflow_started_at is null and created_at < now() - make_interval(secs => $1)
           order by created_at limit $2`,
    values: [bounds.olderThanMs / 1_000, bounds.limit],
  })
  return rows.map(workflowSettings)
}

/** Notes that these instances' workflows run. */
export async function markWorkflowStarted(database: Database, uuids: readonly string[]): Promise<void> {
  await database.rows({
    name: 'mark-workflow-started',
    text: `update instances set workflow_started_at = now()
           where uuid = any($1::uuid[]) and workflow_started_at is null`,
    values: [uuids],
  })
}

/** Instances that are marked deleted and whose row is still there, longest deleted first. */
export async function findDeletedRows(
  database: Database,
  bounds: SweepBounds,
): Promise<readonly InstanceSettings[]> {
  const rows = await database.rows<InstanceRow>({
    name: 'find-deleted-rows',
    text: `select ${instanceColumns} from instances
           where deleted_at < now() - make_interval(secs => $1)
           order by deleted_at limit $2`,
    values: [bounds.olderThanMs / 1_000, bounds.limit],
  })
  return rows.map(workflowSettings)
}

/** Makes an instance invisible that deletes itself when it stops. Idempotent. */
export async function markEphemeralDeleted(database: Database, uuid: string): Promise<void> {
  await database.rows({
    name: 'mark-ephemeral-deleted',
    text: `with marked as (update instances set deleted_at = now()
             where uuid = $1 and deleted_at is null returning uuid)
           ${notifyInstanceSql('marked')}`,
    values: [uuid],
  })
}

/** Deletes the row, once nothing of the instance is left on its host: its address can be given out again. Idempotent. */
export async function removeInstanceRow(database: Database, uuid: string): Promise<void> {
  await database.rows({
    name: 'remove-instance-row',
    text: `with removed as (delete from instances where uuid = $1 returning uuid)
           ${notifyInstanceSql('removed')}`,
    values: [uuid],
  })
}
