import { TokenScope } from '../../domain/account/token-scope.ts'
import {
  addPolicyBody,
  autoscaleDetails,
  changedAutoscale,
  changedPolicy,
  createAutoscaleBody,
  policyDetails,
  triedAutoscale,
  tryAutoscaleBody,
} from './schemas.ts'
import { noParameters } from '../fields.ts'
import { explainedAutoscale } from './explanation.ts'
import { DataKey, Scope, TextForm, defineOperation } from '../operation.ts'

export const createAutoscale = defineOperation({
  id: 'createAutoscale',
  method: 'POST',
  path: '/v1/services/autoscale',
  localPath: '/v1/services/{object}/autoscale',
  scope: Scope.Objects,
  tokenScopes: [TokenScope.Operate],
  withinServices: true,
  place: 'autoscale creation arguments',
  body: createAutoscaleBody,
  query: noParameters,
  dataKey: DataKey.ServiceGroups,
  entry: changedAutoscale,
  summary: 'Configure autoscale of services',
  description:
    'Autoscale makes clones of the master and gives them back, as its policies say. The service is persistent from then on.',
})

export const getAutoscale = defineOperation({
  id: 'getAutoscale',
  method: 'GET',
  path: '/v1/services/autoscale',
  localPath: '/v1/services/{object}/autoscale',
  scope: Scope.ObjectsOrAll,
  tokenScopes: [TokenScope.Read],
  withinServices: true,
  place: 'autoscale status arguments',
  body: noParameters,
  query: noParameters,
  paged: true,
  dataKey: DataKey.ServiceGroups,
  entry: autoscaleDetails,
  summary: 'Autoscale configuration of services',
  description:
    'Services without a configuration are `unconfigured`. Without identifiers the answer is about all services.',
})

export const deleteAutoscale = defineOperation({
  id: 'deleteAutoscale',
  method: 'DELETE',
  path: '/v1/services/autoscale',
  localPath: '/v1/services/{object}/autoscale',
  scope: Scope.Objects,
  tokenScopes: [TokenScope.Operate],
  withinServices: true,
  place: 'autoscale deletion arguments',
  body: noParameters,
  query: noParameters,
  dataKey: DataKey.ServiceGroups,
  entry: changedAutoscale,
  summary: 'Delete the autoscale configuration of services',
  description:
    'All clones drain for at most the cooldown, and are deleted. The master stays, and is started if it is stopped.',
})

export const addAutoscalePolicies = defineOperation({
  id: 'addAutoscalePolicies',
  method: 'POST',
  path: '/v1/services/{owner}/autoscale/policies',
  scope: Scope.Create,
  tokenScopes: [TokenScope.Operate],
  withinServices: true,
  place: 'autoscale policy arguments',
  body: addPolicyBody,
  query: noParameters,
  dataKey: DataKey.Policies,
  entry: changedPolicy,
  summary: 'Add policies to the autoscale configuration of a service',
  description: 'Adds one policy per object of the body. They count from the next look at the service on.',
})

export const getAutoscalePolicies = defineOperation({
  id: 'getAutoscalePolicies',
  method: 'GET',
  path: '/v1/services/{owner}/autoscale/policies',
  localPath: '/v1/services/{owner}/autoscale/policies/{object}',
  scope: Scope.ObjectsOrAll,
  tokenScopes: [TokenScope.Read],
  withinServices: true,
  identifiedBy: ['name'],
  place: 'autoscale policy status arguments',
  body: noParameters,
  query: noParameters,
  paged: true,
  dataKey: DataKey.Policies,
  entry: policyDetails,
  summary: 'Policies of the autoscale configuration of a service',
  description:
    'Without names all policies are returned. One that the path names and that does not exist fails the request with status 404.',
})

export const deleteAutoscalePolicies = defineOperation({
  id: 'deleteAutoscalePolicies',
  method: 'DELETE',
  path: '/v1/services/{owner}/autoscale/policies',
  localPath: '/v1/services/{owner}/autoscale/policies/{object}',
  scope: Scope.Objects,
  tokenScopes: [TokenScope.Operate],
  withinServices: true,
  identifiedBy: ['name'],
  place: 'autoscale policy deletion arguments',
  body: noParameters,
  query: noParameters,
  dataKey: DataKey.Policies,
  entry: changedPolicy,
  summary: 'Delete policies of the autoscale configuration of a service',
  description: 'The size of the service stays as it is.',
})

export const explainAutoscale = defineOperation({
  id: 'explainAutoscale',
  method: 'GET',
  path: '/v1/services/autoscale/explain',
  localPath: '/v1/services/{object}/autoscale/explain',
  scope: Scope.Objects,
  tokenScopes: [TokenScope.Read],
  withinServices: true,
  place: 'autoscale explanation arguments',
  body: noParameters,
  query: noParameters,
  dataKey: DataKey.ServiceGroups,
  entry: explainedAutoscale,
  textForm: TextForm.Explanation,
  summary: 'Explain the autoscale of services',
  description: 'How a service is scaled, what was decided and why, and what comes next.',
})

export const tryAutoscale = defineOperation({
  id: 'tryAutoscale',
  method: 'POST',
  path: '/v1/services/autoscale/try',
  localPath: '/v1/services/{object}/autoscale/try',
  scope: Scope.Objects,
  tokenScopes: [TokenScope.Read],
  withinServices: true,
  place: 'autoscale trial arguments',
  body: tryAutoscaleBody,
  query: noParameters,
  dataKey: DataKey.ServiceGroups,
  entry: triedAutoscale,
  summary: 'Try autoscale of services on their recorded load',
  description:
    'Tells what a configuration would have done with the load of the last hour or day. Nothing of the service changes. ' +
    'What the body leaves out is that of the present configuration, or the default without one.',
})
