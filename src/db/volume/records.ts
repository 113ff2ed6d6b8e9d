import type { VolumeLife } from '../../domain/volume/lifecycle.ts'
import type { VolumeSettings } from '../../domain/volume/settings.ts'
import type { Database } from '../database.ts'
import { notifyInstanceSql } from '../instance/channel.ts'
import { volumeSettings } from './settings.ts'
import type { VolumeSettingsRow } from './settings.ts'
import { markStarted, readDeleted, readUnstarted } from '../workflow-rows.ts'
import type { SweepBounds, WorkflowTable } from '../workflow-rows.ts'

const settingsColumns = `uuid, name, user_uuid as "userUuid", node_id as "nodeId", size_mb as "sizeMb",
  revision, phase, made, failure`

const table = { name: 'volumes', columns: settingsColumns } satisfies WorkflowTable

/** Volumes whose workflow nobody is known to have started, oldest first. */
export async function findUnstartedVolumes(
  database: Database,
  bounds: SweepBounds,
): Promise<readonly VolumeSettings[]> {
  return (await readUnstarted<VolumeSettingsRow>(database, table, bounds)).map(volumeSettings)
}

/** Notes that these volumes' workflows run. */
export async function markVolumeWorkflowStarted(database: Database, uuids: readonly string[]): Promise<void> {
  await markStarted(database, table, uuids)
}

/** Volumes that are marked deleted and whose row is still there, longest deleted first. */
export async function findDeletedVolumes(
  database: Database,
  bounds: SweepBounds,
): Promise<readonly VolumeSettings[]> {
  return (await readDeleted<VolumeSettingsRow>(database, table, bounds)).map(volumeSettings)
}

/** What readers see of a volume's life. */
export type VolumeRecord = Pick<VolumeLife, 'phase' | 'made' | 'failure'>

/**
 * Writes what the workflow decided and tells whoever waits. A revision that is not greater than the row's is
 * older news, or a repeat, and changes nothing; so is one about a volume that is gone. Returns whether it was
 * written.
 */
export async function recordVolume(
  database: Database,
  volume: { readonly uuid: string; readonly revision: number },
  { phase, made, failure }: VolumeRecord,
): Promise<boolean> {
  const [written] = await database.rows<{ count: number }>({
    name: 'record-volume',
    text: `with changed as (update volumes set revision = $2, phase = $3, made = $4, failure = $5,
               workflow_started_at = coalesce(workflow_started_at, now())
             where uuid = $1 and revision < $2 returning uuid)
           ${notifyInstanceSql('changed')}`,
    values: [volume.uuid, volume.revision, phase, made, failure ?? null],
  })
  return written !== undefined && written.count > 0
}

/**
 * Deletes the row, once nothing of the volume is left on its host: its room can be promised again.
 * Idempotent.
 */
export async function removeVolumeRow(database: Database, uuid: string): Promise<void> {
  await database.rows({
    name: 'remove-volume-row',
    text: 'delete from volumes where uuid = $1 and deleted_at is not null',
    values: [uuid],
  })
}
