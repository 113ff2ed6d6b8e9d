import type { OperationEntry } from '../../contract/operation.ts'
import type { getInstances } from '../../contract/instance/operations.ts'
import type { getVolumes } from '../../contract/volume/operations.ts'
import type { InstanceRow } from '../../db/instance/row.ts'
import type { VolumeRow } from '../../db/volume/row.ts'
import { VolumeState, VolumeUse } from '../../domain/volume/state.ts'
import { timestamp } from '../timestamp.ts'

type Details = OperationEntry<typeof getVolumes>

/** All fields of a volume. */
export function presentVolume(row: VolumeRow): Details {
  const { attachedTo, readonly, use } = row
  const holders = attachedTo === null ? [] : [{ uuid: attachedTo.uuid, name: attachedTo.name }]
  return {
    uuid: row.uuid,
    name: row.name,
    state: row.state,
    ...(row.state === VolumeState.Error ? { reason: row.failure ?? 'unknown' } : {}),
    size_mb: row.sizeMb,
    attached_to: holders,
    mounted_by: use === VolumeUse.Live ? holders.map((holder) => ({ ...holder, readonly })) : [],
    readonly,
    persistent: row.persistent,
    created_at: timestamp(row.createdAt),
  }
}

/** The volume as an instance shows it. */
export function presentMount(
  { volumeAt, volumeReadonly }: Pick<InstanceRow, 'volumeAt' | 'volumeReadonly'>,
  volume: Pick<VolumeRow, 'uuid' | 'name'> | undefined,
): NonNullable<OperationEntry<typeof getInstances>['volumes']> {
  if (volume === undefined || volumeAt === null) return []
  return [{ uuid: volume.uuid, name: volume.name, at: volumeAt, readonly: volumeReadonly }]
}
