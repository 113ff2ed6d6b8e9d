import { Type } from 'typebox'
import { maxMountPathBytes, mountPathPattern } from '../../domain/volume/mount-path.ts'
import { volumeStates } from '../../domain/volume/state.ts'
import { closed, identifier, identifierFields, nameField, vocabulary, withinLimits } from '../fields.ts'
import { bothRules, exactlyOne } from '../openapi/published-rules.ts'

// The schemas of requests about volumes.

const sizeLimits = 'limits.min_volume_mb` to `limits.max_volume_mb'

const at = Type.String({
  minLength: 1,
  maxLength: maxMountPathBytes,
  'x-published': { pattern: mountPathPattern },
  description:
    'Absolute path of the mount, without `.` and `..` as components, colon and control characters. The directory is ' +
    'made where it is missing, and has to be empty.',
})
const readonly = Type.Boolean({ description: 'Nothing can be written; default false.' })

/**
 * The volume of an instance. Exactly one of `uuid`, `name` and `size_mb` is given;
 * `src/api/volume/choice.ts` checks that.
 */
export const instanceVolume = closed(
  {
    uuid: Type.Optional(identifierFields.uuid),
    name: Type.Optional(identifierFields.name),
    size_mb: Type.Optional(withinLimits('Size in MiB of a new volume.', sizeLimits)),
    at,
    readonly: Type.Optional(readonly),
  },
  { 'x-place': 'volume description', 'x-published': exactlyOne(['uuid', 'name', 'size_mb']) },
)

export const createVolumeBody = closed({
  name: Type.Optional(nameField),
  size_mb: withinLimits('Size in MiB.', sizeLimits),
})

/**
 * The mount. Clients give it beside `attach_to`. The API's document can also be read so that it is inside.
 */
const mount = { at: Type.Optional(at), readonly: Type.Optional(readonly) }

/**
 * The rules that the path, and in the next constant the mode, is given in only one of the two places.
 * `src/api/volume/mount.ts` checks them.
 */
const pathInOnePlace = {
  anyOf: [
    {
      required: ['at'],
      properties: { at: { type: 'string' }, attach_to: { properties: { at: { enum: [null] } } } },
    },
    {
      properties: {
        at: { enum: [null] },
        attach_to: { required: ['at'], properties: { at: { type: 'string' } } },
      },
    },
  ],
}
const modeInOnePlace = {
  anyOf: [
    { properties: { readonly: { enum: [null] } } },
    { properties: { attach_to: { properties: { readonly: { enum: [null] } } } } },
  ],
}

export const attachVolumeBody = closed(
  {
    attach_to: closed(
      { ...identifierFields, ...mount },
      {
        'x-place': 'attachment description',
        'x-published': exactlyOne(['uuid', 'name']),
        description: 'The instance, which has to be stopped.',
      },
    ),
    ...mount,
  },
  { 'x-published': bothRules(pathInOnePlace, modeInOnePlace) },
)

export const detachVolumeBody = closed({
  from: Type.Optional(
    identifier({
      'x-place': 'detachment description',
      description: 'The instance; without it, whichever instance has the volume.',
    }),
  ),
})

export const volumeFilterBody = closed({
  persistent: Type.Optional(Type.Boolean({ description: 'Only volumes that are, or are not, persistent.' })),
  state: Type.Optional(vocabulary(volumeStates, 'Only volumes in this state.')),
})
