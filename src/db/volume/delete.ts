import { VolumeCommand, volumeRefusal } from '../../domain/volume/state.ts'
import type { Database } from '../database.ts'
import { lockVolume } from './locked-volume.ts'
import { Refused, orRefusal } from '../refused.ts'
import type { WriteRefusal } from '../refused.ts'
import { lockUser } from '../account/user-lock.ts'
import type { VolumeRow } from './row.ts'

export type DeleteVolumeOutcome =
  { readonly ok: true; readonly volume: VolumeRow } | { readonly ok: false; readonly refusal: WriteRefusal }

/**
 * Makes the user's volume invisible, frees its name and quota, and answers the row as it was. Refused while
 * an instance has it. Of two deletes at once one finds it. Its room on the host is free once the volume's
 * workflow has cleaned up there.
 */
export async function markVolumeDeleted(
  database: Database,
  userUuid: string,
  uuid: string,
): Promise<DeleteVolumeOutcome> {
  const written = await orRefusal(() =>
    database.em().transactional(async (em) => {
      await lockUser(em, userUuid)
      const volume = await lockVolume(em, { userUuid, volume: { uuid } })
      const { name, attachedTo } = volume
      if (attachedTo !== null && volumeRefusal(VolumeCommand.Delete, volume) !== undefined) {
        throw new Refused({ kind: 'volume-attached', name, instance: attachedTo })
      }
      await em.execute('update volumes set deleted_at = now() where uuid = ?', [volume.uuid], 'run')
      return volume
    }),
  )
  return written.ok ? { ok: true, volume: written.value } : written
}
