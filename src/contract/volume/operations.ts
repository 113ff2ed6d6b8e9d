import { TokenScope } from '../../domain/account/token-scope.ts'
import { detailsQuery, noParameters } from '../fields.ts'
import { explainedVolume } from './explanation.ts'
import { DataKey, Scope, TextForm, defineOperation } from '../operation.ts'
import { attachVolumeBody, createVolumeBody, detachVolumeBody, volumeFilterBody } from './requests.ts'
import { changedVolume, volumeDetails, volumeIdentity } from './responses.ts'

export const createVolumes = defineOperation({
  id: 'createVolumes',
  method: 'POST',
  path: '/v1/volumes',
  scope: Scope.Create,
  tokenScopes: [TokenScope.Operate],
  withinServices: false,
  place: 'volume creation arguments',
  body: createVolumeBody,
  query: noParameters,
  dataKey: DataKey.Volumes,
  entry: changedVolume,
  summary: 'Create volumes',
  description:
    'Creates one volume per object of the body. It gets an empty file system and then the state `available`, for which ' +
    'the answer waits a moment.',
})

export const getVolumes = defineOperation({
  id: 'getVolumes',
  method: 'GET',
  path: '/v1/volumes',
  localPath: '/v1/volumes/{object}',
  scope: Scope.ObjectsOrAll,
  tokenScopes: [TokenScope.Read],
  withinServices: false,
  place: 'volume status arguments',
  body: noParameters,
  query: detailsQuery,
  paged: true,
  ordered: true,
  dataKey: DataKey.Volumes,
  entry: volumeDetails,
  summary: 'Status of volumes',
  description: 'Without identifiers all volumes are returned, and their entries have no `status`.',
})

export const deleteVolumes = defineOperation({
  id: 'deleteVolumes',
  method: 'DELETE',
  path: '/v1/volumes',
  localPath: '/v1/volumes/{object}',
  scope: Scope.Objects,
  tokenScopes: [TokenScope.Operate],
  withinServices: false,
  place: 'volume deletion arguments',
  body: noParameters,
  query: noParameters,
  dataKey: DataKey.Volumes,
  entry: changedVolume,
  summary: 'Delete volumes',
  description: 'Fails while an instance is attached. What was written is overwritten on the host.',
})

export const attachVolumes = defineOperation({
  id: 'attachVolumes',
  method: 'PUT',
  path: '/v1/volumes/attach',
  localPath: '/v1/volumes/{object}/attach',
  scope: Scope.Objects,
  tokenScopes: [TokenScope.Operate],
  withinServices: false,
  place: 'volume attach arguments',
  body: attachVolumeBody,
  query: noParameters,
  dataKey: DataKey.Volumes,
  entry: changedVolume,
  summary: 'Attach volumes to instances',
  description:
    'The volume has to be `available` and the instance `stopped`; it is mounted at the next start. `at`, which is ' +
    'required, and `readonly` stand beside `attach_to` or inside it.',
})

export const detachVolumes = defineOperation({
  id: 'detachVolumes',
  method: 'PUT',
  path: '/v1/volumes/detach',
  localPath: '/v1/volumes/{object}/detach',
  scope: Scope.Objects,
  tokenScopes: [TokenScope.Operate],
  withinServices: false,
  place: 'volume detach arguments',
  body: detachVolumeBody,
  query: noParameters,
  dataKey: DataKey.Volumes,
  entry: changedVolume,
  summary: 'Detach volumes from instances',
  description:
    'The instance has to be `stopped`. Without `from` the volume is detached from whichever instance has it. It is ' +
    'persistent from then on.',
})

export const listVolumes = defineOperation({
  id: 'listVolumes',
  method: 'GET',
  path: '/v1/volumes/list',
  scope: Scope.Collection,
  tokenScopes: [TokenScope.Read],
  withinServices: false,
  place: 'volume list filter',
  body: volumeFilterBody,
  inQuery: true,
  query: noParameters,
  paged: true,
  dataKey: DataKey.Volumes,
  entry: volumeIdentity,
  summary: 'List volumes',
  description:
    'All filters of one object must match; an array of objects selects volumes that match any of them.',
})

export const explainVolumes = defineOperation({
  id: 'explainVolumes',
  method: 'GET',
  path: '/v1/volumes/explain',
  localPath: '/v1/volumes/{object}/explain',
  scope: Scope.Objects,
  tokenScopes: [TokenScope.Read],
  withinServices: false,
  place: 'volume explanation arguments',
  body: noParameters,
  query: noParameters,
  dataKey: DataKey.Volumes,
  entry: explainedVolume,
  textForm: TextForm.Explanation,
  summary: 'Explain volumes',
  description: 'What a volume is doing and why, and what comes next.',
})
