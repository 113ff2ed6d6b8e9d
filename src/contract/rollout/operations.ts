import { TokenScope } from '../../domain/account/token-scope.ts'
import { noParameters } from '../fields.ts'
import { keptRollouts } from '../limits.ts'
import { DataKey, Scope, defineOperation } from '../operation.ts'
import { createRolloutBody, rolloutsBody } from './requests.ts'
import { createdRollout, recalledRollout, serviceRollouts } from './responses.ts'

export const createRollouts = defineOperation({
  id: 'createRollouts',
  method: 'POST',
  path: '/v1/services/rollouts',
  localPath: '/v1/services/{object}/rollouts',
  scope: Scope.Objects,
  tokenScopes: [TokenScope.Operate],
  withinServices: true,
  place: 'rollout arguments',
  body: createRolloutBody,
  query: noParameters,
  dataKey: DataKey.ServiceGroups,
  entry: createdRollout,
  summary: 'Roll out a new version',
  description:
    'Makes an instance of the new version for each instance of the service that is not stopped, waits until all are ' +
    'healthy, and gives them the traffic in steps. It goes back by itself if one fails. The answer does not wait for it.',
})

export const getRollouts = defineOperation({
  id: 'getRollouts',
  method: 'GET',
  path: '/v1/services/rollouts',
  localPath: '/v1/services/{object}/rollouts',
  scope: Scope.Objects,
  tokenScopes: [TokenScope.Read],
  withinServices: true,
  place: 'rollout list arguments',
  body: rolloutsBody,
  inQuery: true,
  query: noParameters,
  dataKey: DataKey.ServiceGroups,
  entry: serviceRollouts,
  summary: 'Rollouts of services',
  description: `The last rollouts of each service, the newest first. The last ${keptRollouts} are kept.`,
})

export const rollBackServices = defineOperation({
  id: 'rollBackServices',
  method: 'PUT',
  path: '/v1/services/rollback',
  localPath: '/v1/services/{object}/rollback',
  scope: Scope.Objects,
  tokenScopes: [TokenScope.Operate],
  withinServices: true,
  place: 'rollback arguments',
  body: noParameters,
  query: noParameters,
  dataKey: DataKey.ServiceGroups,
  entry: recalledRollout,
  summary: 'Go back to the old version',
  description:
    'Of the rollout that is under way, or whose old version is still kept. The answer does not wait for it.',
})
