import { thePlatform } from '../../domain/event/asker.ts'
import type { Asker } from '../../domain/event/asker.ts'
import { UserEventKind } from '../../domain/event/user-event-kind.ts'
import { VolumeCommand, volumeRefusal } from '../../domain/volume/state.ts'
import type { Database } from '../database.ts'
import { eventObject, writeEvents } from '../event/write.ts'
import { lockVolume } from './locked-volume.ts'
import { Refused, orRefusal } from '../refused.ts'
import type { WriteRefusal } from '../refused.ts'
import { lockUser } from '../account/user-lock.ts'
import { now } from '../sql/time.ts'
import type { VolumeRow } from './row.ts'

export type DeleteVolumeOutcome =
  { readonly ok: true; readonly volume: VolumeRow } | { readonly ok: false; readonly refusal: WriteRefusal }

/**
 * Marks the user's volume deleted: readers do not see it any more, and its name and quota are free. Returns
 * the row as it was. Refused while an instance has the volume. Of two deletes at once, only one finds the
 * volume. The room on the host is free once the volume's workflow has had the host remove the volume.
 */
export async function markVolumeDeleted(
  database: Database,
  userUuid: string,
  uuid: string,
  asker: Asker = thePlatform,
): Promise<DeleteVolumeOutcome> {
  const written = await orRefusal(() =>
    database.db.transaction().execute(async (db) => {
      await lockUser(db, userUuid)
      const volume = await lockVolume(db, { userUuid, volume: { uuid } })
      const { name, attachedTo } = volume
      if (attachedTo !== null && volumeRefusal(VolumeCommand.Delete, volume) !== undefined) {
        throw new Refused({ kind: 'volume-attached', name, instance: attachedTo })
      }
      await db.updateTable('volumes').set({ deletedAt: now }).where('uuid', '=', volume.uuid).execute()
      const why = 'its deletion was asked for'
      const change = { kind: UserEventKind.VolumeDeleted, from: volume.phase, why, asker }
      await writeEvents(db, [{ ...eventObject(volume), ...change }])
      return volume
    }),
  )
  return written.ok ? { ok: true, volume: written.value } : written
}
