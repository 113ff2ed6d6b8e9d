import { Type } from 'typebox'
import { volumeStates } from '../../domain/volume/state.ts'
import { closed, count, statusSuccess, timestampField, uuidField, vocabulary } from '../fields.ts'

const volumeName = Type.String({ description: 'Name of the volume.' })
const readonlyField = Type.Boolean({ description: 'It is mounted, or will be, without the right to write.' })

/** The volume that is attached to an instance. */
export const mountedVolume = closed({
  uuid: uuidField,
  name: volumeName,
  at: Type.String({ description: 'Path of the mount.' }),
  readonly: readonlyField,
})

export const volumeIdentity = closed({ uuid: uuidField, name: volumeName })
/** The entry of every operation that changes a volume. */
export const changedVolume = closed({ status: statusSuccess, uuid: uuidField, name: volumeName })

const instance = { uuid: uuidField, name: Type.String({ description: 'Name of the instance.' }) }

/** The entry with all fields of a volume. `status` is left out if all volumes are listed. */
export const volumeDetails = closed({
  status: Type.Optional(statusSuccess),
  uuid: uuidField,
  name: volumeName,
  state: Type.Optional(vocabulary(volumeStates, 'Current state.')),
  reason: Type.Optional(Type.String({ description: 'Why the state is `error`.' })),
  size_mb: Type.Optional(count('Size in MiB.')),
  attached_to: Type.Optional(Type.Array(closed(instance), { description: 'At most one instance.' })),
  mounted_by: Type.Optional(
    Type.Array(closed({ ...instance, readonly: readonlyField }), {
      description: 'Instances that are not stopped, or are about to start, with the volume.',
    }),
  ),
  readonly: Type.Optional(readonlyField),
  persistent: Type.Optional(
    Type.Boolean({ description: 'It stays when the instance that it is attached to is deleted.' }),
  ),
  created_at: Type.Optional(timestampField),
})
