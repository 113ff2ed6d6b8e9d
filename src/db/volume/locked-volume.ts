import type { EntityManager } from '@mikro-orm/postgresql'
import { isUuid } from '../../domain/object-name.ts'
import { VolumeCommand, volumeRefusal } from '../../domain/volume/state.ts'
import { Refused } from '../refused.ts'
import { readVolume } from './row.ts'
import type { VolumeRow } from './row.ts'
import type { Identifier } from '../instance/instances.ts'

/**
 * The user's volume, whose row stays locked until the commit: what its workflow tells of it meanwhile comes
 * after. Whoever takes this has the user's row, so nobody attaches or detaches it either. Throws `Refused`.
 */
export async function lockVolume(
  em: EntityManager,
  wanted: { readonly userUuid: string; readonly volume: Identifier },
): Promise<VolumeRow> {
  const [by, value] =
    'uuid' in wanted.volume
      ? (['uuid', wanted.volume.uuid] as const)
      : (['name', wanted.volume.name] as const)
  const [locked] =
    by === 'uuid' && !isUuid(value)
      ? []
      : await em.execute<{ uuid: string }[]>(
          `select uuid from volumes where user_uuid = ? and ${by} = ? and deleted_at is null for no key update`,
          [wanted.userUuid, value],
        )
  const volume = locked && (await readVolume(em, locked.uuid))
  if (volume === undefined) throw new Refused({ kind: 'volume-not-found', by, value })
  return volume
}

/** Throws `Refused` where the volume can not be attached now. */
export function refuseUnavailable(volume: VolumeRow): void {
  if (volumeRefusal(VolumeCommand.Attach, volume) === undefined) return
  const { name, state, attachedTo, failure } = volume
  throw new Refused({ kind: 'volume-not-available', name, state, attachedTo, failure })
}
