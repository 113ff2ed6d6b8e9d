import { AskerKind } from '../../domain/event/asker.ts'
import type { News } from '../../domain/event/news.ts'
import { UserEventKind } from '../../domain/event/user-event-kind.ts'
import type { VolumeLife } from '../../domain/volume/lifecycle.ts'
import type { VolumeSettings } from '../../domain/volume/settings.ts'
import type { Database } from '../database.ts'
import { countNotified } from '../instance/channel.ts'
import { insertNewsOfChanged } from '../event/write.ts'
import { anyOf } from '../sql/lists.ts'
import { ago, now } from '../sql/time.ts'
import { volumeSettings, volumeSettingsColumns } from './settings.ts'
import type { SweepBounds } from '../workflow-rows.ts'

/** Volumes whose workflow is not known to have been started, oldest first. */
export async function findUnstartedVolumes(
  { db }: Database,
  { olderThanMs, limit }: SweepBounds,
): Promise<readonly VolumeSettings[]> {
  const rows = await db
    .selectFrom('volumes')
    .select(volumeSettingsColumns)
    .where('workflowStartedAt', 'is', null)
    .where('createdAt', '<', ago(olderThanMs))
    .orderBy('createdAt')
    .limit(limit)
    .execute()
  return rows.map(volumeSettings)
}

/** Notes that these volumes' workflows run. */
export async function markVolumeWorkflowStarted({ db }: Database, uuids: readonly string[]): Promise<void> {
  await db
    .updateTable('volumes')
    .set({ workflowStartedAt: now })
    .where('uuid', '=', anyOf(uuids))
    .where('workflowStartedAt', 'is', null)
    .execute()
}

/** Volumes that are marked deleted and whose row is still there, longest deleted first. */
export async function findDeletedVolumes(
  { db }: Database,
  { olderThanMs, limit }: SweepBounds,
): Promise<readonly VolumeSettings[]> {
  const rows = await db
    .selectFrom('volumes')
    .select(volumeSettingsColumns)
    .where('deletedAt', '<', ago(olderThanMs))
    .orderBy('deletedAt')
    .limit(limit)
    .execute()
  return rows.map(volumeSettings)
}

/** The part of a volume's life that readers see. */
export type VolumeRecord = Pick<VolumeLife, 'phase' | 'made' | 'failure'>

/**
 * Writes the life that the workflow decided, and notifies those who wait for it. A revision that is not
 * greater than the row's is out of date or a repeat and changes nothing. Nothing happens either if the row
 * is gone. Returns whether the life was written. The news are written as the user's events if the life is.
 */
export async function recordVolume(
  { db }: Database,
  {
    uuid,
    revision,
    news = [],
  }: { readonly uuid: string; readonly revision: number; readonly news?: readonly News[] | undefined },
  { phase, made, failure }: VolumeRecord,
): Promise<boolean> {
  const { written } = await db
    .with('changed', (db) =>
      db
        .updateTable('volumes')
        .set((eb) => ({
          revision,
          phase,
          made,
          failure: failure ?? null,
          workflowStartedAt: eb.fn.coalesce('workflowStartedAt', now),
        }))
        .where('uuid', '=', uuid)
        .where('revision', '<', revision)
        .returning(['uuid', 'name', 'userUuid']),
    )
    .with('told', (db) => insertNewsOfChanged(db, news))
    .selectFrom('changed')
    .select((eb) => countNotified(eb.ref('changed.uuid')).as('written'))
    .executeTakeFirstOrThrow()
  return written > 0
}

/**
 * Deletes the row. Called once nothing of the volume is left on its host; its room can be promised again
 * then. Idempotent.
 */
export async function removeVolumeRow({ db }: Database, uuid: string): Promise<void> {
  await db
    .with('changed', (db) =>
      db
        .deleteFrom('volumes')
        .where('uuid', '=', uuid)
        .where('deletedAt', 'is not', null)
        .returning(['uuid', 'name', 'userUuid']),
    )
    .with('told', (db) => insertNewsOfChanged(db, [removed]))
    .selectFrom('changed')
    .select('uuid')
    .execute()
}

const removed: News = {
  kind: UserEventKind.VolumeRemoved,
  why: 'nothing of it is left on its host, and its room is free',
  asker: { by: AskerKind.Host },
}
