import { isUuid } from '../../domain/object-name.ts'
import { VolumeCommand, volumeRefusal } from '../../domain/volume/state.ts'
import { columnOf } from '../identifiers.ts'
import type { Identifier } from '../identifiers.ts'
import { Refused } from '../refused.ts'
import type { Db } from '../schema/tables.ts'
import { readVolume } from './row.ts'
import type { VolumeRow } from './row.ts'

/**
 * The user's volume. Its row stays locked until the commit, so the volume's workflow can not change it
 * before. The caller has locked the user's row, so nobody attaches or detaches the volume either. Throws
 * `Refused`.
 */
export async function lockVolume(
  db: Db,
  wanted: { readonly userUuid: string; readonly volume: Identifier },
): Promise<VolumeRow> {
  const [by, value] = columnOf(wanted.volume)
  const locked =
    by === 'uuid' && !isUuid(value)
      ? undefined
      : await db
          .selectFrom('volumes')
          .select('uuid')
          .where('userUuid', '=', wanted.userUuid)
          .where(by, '=', value)
          .where('deletedAt', 'is', null)
          .forNoKeyUpdate()
          .executeTakeFirst()
  const volume = locked && (await readVolume(db, locked.uuid))
  if (volume === undefined) throw new Refused({ kind: 'volume-not-found', by, value })
  return volume
}

/** Throws `Refused` if the volume can not be attached now. */
export function refuseUnavailable(volume: VolumeRow): void {
  if (volumeRefusal(VolumeCommand.Attach, volume) === undefined) return
  const { name, state, attachedTo, failure } = volume
  throw new Refused({ kind: 'volume-not-available', name, state, attachedTo, failure })
}
