import { TokenScope } from '../../domain/account/token-scope.ts'
import { detailsQuery, noParameters } from '../fields.ts'
import { explainedService } from './explanation.ts'
import { DataKey, Scope, TextForm, defineOperation } from '../operation.ts'
import { createServiceBody, serviceFilterBody, updateServiceBody } from './fields.ts'
import {
  createdService,
  deletedService,
  serviceDetails,
  serviceIdentity,
  serviceMetrics,
  serviceUsage,
  updatedService,
} from './responses.ts'
import { usageBody } from '../usage.ts'

export const createServices = defineOperation({
  id: 'createServices',
  method: 'POST',
  path: '/v1/services',
  scope: Scope.Create,
  tokenScopes: [TokenScope.Operate],
  withinServices: false,
  place: 'service group creation arguments',
  body: createServiceBody,
  query: noParameters,
  dataKey: DataKey.ServiceGroups,
  entry: createdService,
  summary: 'Create services',
  description: 'Creates one service per object of the body. It stays until it is deleted.',
})

export const updateServices = defineOperation({
  id: 'updateServices',
  method: 'PATCH',
  path: '/v1/services',
  localPath: '/v1/services/{object}',
  scope: Scope.Objects,
  tokenScopes: [TokenScope.Operate],
  withinServices: true,
  place: 'service group change arguments',
  body: updateServiceBody,
  query: noParameters,
  changes: true,
  dataKey: DataKey.ServiceGroups,
  entry: updatedService,
  summary: 'Change services',
  description:
    'Changes ports, domains and limits, and touches no instance. Of one object, `clear` is done first, then what ' +
    'replaces, then `del`, then `add`. Several objects about one service are done in their order, all or none.',
})

export const getServices = defineOperation({
  id: 'getServices',
  method: 'GET',
  path: '/v1/services',
  localPath: '/v1/services/{object}',
  scope: Scope.ObjectsOrAll,
  tokenScopes: [TokenScope.Read],
  withinServices: true,
  place: 'service group status arguments',
  body: noParameters,
  query: detailsQuery,
  paged: true,
  ordered: true,
  dataKey: DataKey.ServiceGroups,
  entry: serviceDetails,
  summary: 'Status and configuration of services',
  description: 'Without identifiers all services are returned, and their entries have no `status`.',
})

export const deleteServices = defineOperation({
  id: 'deleteServices',
  method: 'DELETE',
  path: '/v1/services',
  localPath: '/v1/services/{object}',
  scope: Scope.Objects,
  tokenScopes: [TokenScope.Operate],
  withinServices: true,
  place: 'service group deletion arguments',
  body: noParameters,
  query: noParameters,
  dataKey: DataKey.ServiceGroups,
  entry: deletedService,
  summary: 'Delete services',
  description:
    'Fails while instances are attached. Name and domains are free at once; certificates of custom domains stay.',
})

export const listServices = defineOperation({
  id: 'listServices',
  method: 'GET',
  path: '/v1/services/list',
  scope: Scope.Collection,
  tokenScopes: [TokenScope.Read],
  withinServices: true,
  place: 'service group list filter',
  body: serviceFilterBody,
  inQuery: true,
  query: noParameters,
  paged: true,
  dataKey: DataKey.ServiceGroups,
  entry: serviceIdentity,
  summary: 'List services',
  description:
    'All filters of one object must match; an array of objects selects services that match any of them.',
})

export const explainServices = defineOperation({
  id: 'explainServices',
  method: 'GET',
  path: '/v1/services/explain',
  localPath: '/v1/services/{object}/explain',
  scope: Scope.Objects,
  tokenScopes: [TokenScope.Read],
  withinServices: true,
  place: 'service group explanation arguments',
  body: noParameters,
  query: noParameters,
  dataKey: DataKey.ServiceGroups,
  entry: explainedService,
  textForm: TextForm.Explanation,
  summary: 'Explain services',
  description: 'What a request to a service meets and why, and what comes next.',
})

export const getServiceMetrics = defineOperation({
  id: 'getServiceMetrics',
  method: 'GET',
  path: '/v1/services/metrics',
  localPath: '/v1/services/{object}/metrics',
  scope: Scope.ObjectsOrAll,
  tokenScopes: [TokenScope.Metrics],
  withinServices: true,
  place: 'service group metrics arguments',
  body: noParameters,
  query: noParameters,
  paged: true,
  dataKey: DataKey.ServiceGroups,
  entry: serviceMetrics,
  textForm: TextForm.Prometheus,
  summary: 'Metrics of services',
  description:
    'Instances by state, and what the gateways counted since their start: requests, their durations, and wakes. JSON ' +
    'with the request header `Accept: application/json`, otherwise the Prometheus text format.',
})

export const getServiceUsage = defineOperation({
  id: 'getServiceUsage',
  method: 'GET',
  path: '/v1/services/usage',
  localPath: '/v1/services/{object}/usage',
  scope: Scope.Objects,
  tokenScopes: [TokenScope.Metrics],
  withinServices: true,
  place: 'service group usage arguments',
  body: usageBody,
  inQuery: true,
  query: noParameters,
  dataKey: DataKey.ServiceGroups,
  entry: serviceUsage,
  summary: 'History of usage of services',
  description:
    'What all instances of a service used together in each step of the last hour or of the last 30 days, also those ' +
    'that are gone. It is kept on the hosts that have an instance of the service.',
})
