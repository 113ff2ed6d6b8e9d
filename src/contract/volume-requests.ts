import { Type } from 'typebox'
import { maxMountPathBytes } from '../domain/mount-path.ts'
import { volumeStates } from '../domain/volume.ts'
import { closed, identifierFields, nameField, vocabulary } from './fields.ts'

// What requests say of volumes. The range of a size is the account's, so that there is one sentence about it.

const size = Type.Integer({ description: "Size in MiB within the account's limits." })

const at = Type.String({
  minLength: 1,
  maxLength: maxMountPathBytes,
  description:
    'Absolute path of the mount, without `.` and `..` as components, colon and control characters. The directory is ' +
    'made where it is missing, and has to be empty.',
})
const readonly = Type.Boolean({ description: 'Nothing can be written; default false.' })

/** One of `uuid`, `name` and `size_mb`, which `src/api/volume-choice.ts` sees to. */
export const instanceVolume = closed(
  {
    uuid: Type.Optional(identifierFields.uuid),
    name: Type.Optional(identifierFields.name),
    size_mb: Type.Optional(
      Type.Integer({ description: "Size in MiB, within the account's limits, of a new volume." }),
    ),
    at,
    readonly: Type.Optional(readonly),
  },
  { 'x-place': 'volume description' },
)

export const createVolumeBody = closed({ name: Type.Optional(nameField), size_mb: size })

/** Clients give the mount beside `attach_to`; the API's document can also be read as giving it inside. */
const mount = { at: Type.Optional(at), readonly: Type.Optional(readonly) }

export const attachVolumeBody = closed({
  attach_to: closed(
    { ...identifierFields, ...mount },
    { 'x-place': 'attachment description', description: 'The instance, which has to be stopped.' },
  ),
  ...mount,
})

export const detachVolumeBody = closed({
  from: Type.Optional(
    closed(identifierFields, {
      'x-place': 'detachment description',
      description: 'The instance; without it, whichever instance has the volume.',
    }),
  ),
})

export const volumeFilterBody = closed({
  persistent: Type.Optional(Type.Boolean({ description: 'Only volumes that are, or are not, persistent.' })),
  state: Type.Optional(vocabulary(volumeStates, 'Only volumes in this state.')),
})
