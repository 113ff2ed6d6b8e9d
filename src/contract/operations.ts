import { TokenScope } from '../domain/account/token-scope.ts'
import {
  createCertificates,
  deleteCertificates,
  updateCertificates,
  explainCertificates,
  getCertificates,
  listCertificates,
} from './certificate/operations.ts'
import {
  addAutoscalePolicies,
  createAutoscale,
  deleteAutoscale,
  deleteAutoscalePolicies,
  explainAutoscale,
  getAutoscale,
  getAutoscalePolicies,
  tryAutoscale,
} from './autoscale/operations.ts'
import { followEvents, listEvents } from './event/operations.ts'
import { noParameters } from './fields.ts'
import {
  cordonHosts,
  drainHosts,
  deleteHostInvitations,
  deleteHosts,
  explainHosts,
  getHostInvitations,
  getBalance,
  getHosts,
  inviteHosts,
  labelHosts,
  uncordonHosts,
} from './host/operations.ts'
import { imageEntry, imageFilterBody, imageQuery, linkedImageEntry } from './image/schemas.ts'
import {
  archiveInstances,
  connectInstances,
  createInstances,
  deleteInstances,
  explainInstances,
  execInstances,
  getInstanceLogs,
  getInstanceMetrics,
  getInstanceUsage,
  getInstances,
  listInstances,
  startInstances,
  stopInstances,
  suspendInstances,
  moveInstances,
  updateInstances,
  waitInstances,
} from './instance/operations.ts'
import {
  createServices,
  deleteServices,
  explainServices,
  getServiceMetrics,
  getServiceUsage,
  getServices,
  listServices,
  updateServices,
} from './service/operations.ts'
import {
  createSchedules,
  deleteSchedules,
  explainSchedules,
  getScheduleRuns,
  getSchedules,
  listSchedules,
  triggerSchedules,
  updateSchedules,
} from './schedule/operations.ts'
import { createRollouts, getRollouts, rollBackServices } from './rollout/operations.ts'
import { DataKey, Scope, defineOperation } from './operation.ts'
import type { Operation } from './operation.ts'
import { quotaEntry } from './account/quota-schemas.ts'
import { getInstallation } from './account/installation-operation.ts'
import { createTokens, deleteTokens, getTokens, listTokens } from './account/token-operations.ts'
import { createUsers, getUsers, setUserQuotas } from './account/user-operations.ts'
import {
  attachVolumes,
  createVolumes,
  deleteVolumes,
  detachVolumes,
  explainVolumes,
  getVolumes,
  listVolumes,
} from './volume/operations.ts'

export const listImages = defineOperation({
  id: 'listImages',
  method: 'GET',
  path: '/v1/images/list',
  scope: Scope.Collection,
  tokenScopes: [TokenScope.Read, TokenScope.ImagesPush],
  withinServices: false,
  place: 'image list filter',
  body: imageFilterBody,
  inQuery: true,
  query: imageQuery,
  paged: true,
  dataKey: DataKey.Images,
  entry: imageEntry,
  summary: 'List images',
  description:
    'All filters of one object must match; an array of objects selects images that match any of them.',
})

export const getImages = defineOperation({
  ...listImages,
  id: 'getImages',
  path: '/v1/images',
  entry: linkedImageEntry,
  summary: 'List images for newer clients',
  description: 'As `GET /v1/images/list`, but with `url`, and with `args` as a list.',
})

export const getQuotas = defineOperation({
  id: 'getQuotas',
  method: 'GET',
  path: '/v1/users/quotas',
  localPath: '/v1/users/{object}/quotas',
  scope: Scope.Account,
  tokenScopes: [TokenScope.Read],
  withinServices: false,
  place: 'quota arguments',
  body: noParameters,
  query: noParameters,
  dataKey: DataKey.Quotas,
  entry: quotaEntry,
  summary: 'Quota usage and limits',
  description: 'Of the account that the token belongs to.',
})

/** The table: every operation of the API, by its id. */
export const operations = {
  createInstances,
  getInstances,
  deleteInstances,
  listInstances,
  startInstances,
  stopInstances,
  suspendInstances,
  moveInstances,
  updateInstances,
  waitInstances,
  getInstanceLogs,
  execInstances,
  archiveInstances,
  connectInstances,
  getInstanceMetrics,
  getInstanceUsage,
  explainInstances,
  createServices,
  getServices,
  updateServices,
  deleteServices,
  listServices,
  explainServices,
  getServiceMetrics,
  getServiceUsage,
  createRollouts,
  getRollouts,
  rollBackServices,
  createAutoscale,
  getAutoscale,
  deleteAutoscale,
  explainAutoscale,
  tryAutoscale,
  addAutoscalePolicies,
  getAutoscalePolicies,
  deleteAutoscalePolicies,
  createCertificates,
  getCertificates,
  updateCertificates,
  deleteCertificates,
  listCertificates,
  explainCertificates,
  createVolumes,
  getVolumes,
  deleteVolumes,
  attachVolumes,
  detachVolumes,
  listVolumes,
  explainVolumes,
  createSchedules,
  getSchedules,
  updateSchedules,
  deleteSchedules,
  listSchedules,
  triggerSchedules,
  getScheduleRuns,
  explainSchedules,
  listImages,
  getImages,
  getQuotas,
  getUsers,
  createUsers,
  setUserQuotas,
  getInstallation,
  listEvents,
  followEvents,
  createTokens,
  getTokens,
  deleteTokens,
  listTokens,
  getBalance,
  getHosts,
  explainHosts,
  cordonHosts,
  drainHosts,
  uncordonHosts,
  labelHosts,
  inviteHosts,
  getHostInvitations,
  deleteHostInvitations,
  deleteHosts,
} as const satisfies Readonly<Record<string, Operation>>
export type Operations = typeof operations
export type OperationId = keyof Operations

export const operationIds = Object.keys(operations) as readonly OperationId[]

/**
 * The words after an endpoint's collection that are endpoints themselves, such as `list`. In local scope
 * they can not be names: an instance called `list` is reached by its UUID or in global scope.
 */
export const reservedObjectNames: ReadonlySet<string> = new Set(
  Object.values(operations)
    .filter(({ path }) => hasLocalPath(path))
    .map((operation) => operation.path.split('/')[3] ?? '')
    .filter((part) => part !== '' && !part.startsWith('{')),
)

/** Whether the objects of the path's collection can be named in local scope. */
function hasLocalPath(path: string): boolean {
  const collection = path.split('/').slice(0, 3).join('/')
  const table: readonly Operation[] = Object.values(operations)
  return table.some(({ localPath }) => localPath?.startsWith(`${collection}/`) === true)
}

/**
 * The paths after which a word of `reservedObjectNames` is an endpoint, such as `/v1/instances`. Any other
 * word after such a path names an object.
 */
export const endpointParents: ReadonlySet<string> = new Set(
  Object.values(operations)
    .map((operation) => operation.path.split('/'))
    .filter((parts) => reservedObjectNames.has(parts[3] ?? ''))
    .map((parts) => parts.slice(0, 3).join('/')),
)

/**
 * The endpoints that are not in the table. They have no `/v1` and no envelope of objects. `tokenScopes` is
 * as in the table; which actions a token of the registry gets is decided in
 * `src/api/image/registry-tokens.ts`.
 */
export const plainEndpoints = [
  { path: '/healthz', authenticated: false, summary: 'The process is alive.' },
  { path: '/readyz', authenticated: false, summary: 'The process can serve: its database answers.' },
  { path: '/openapi.json', authenticated: false, summary: 'This document.' },
  {
    path: '/metrics',
    authenticated: false,
    summary: 'Metrics of the process in the Prometheus text format.',
  },
  {
    path: '/v1/healthz',
    authenticated: true,
    tokenScopes: [TokenScope.Read, TokenScope.ImagesPush, TokenScope.Metrics],
    summary: 'The health of the API, for newer clients: `data.checks`.',
  },
  {
    path: '/platform/targets',
    authenticated: true,
    tokenScopes: [TokenScope.Metrics],
    summary:
      "The parts of the platform as targets for Prometheus' HTTP service discovery. Only for administrators.",
  },
  {
    path: '/platform/metrics',
    authenticated: true,
    tokenScopes: [TokenScope.Metrics],
    query: ['part', 'name'],
    summary: 'Metrics of one target in the Prometheus text format. Only for administrators.',
  },
  {
    path: '/registry/token',
    authenticated: true,
    tokenScopes: [TokenScope.Read, TokenScope.ImagesPush],
    summary: 'Tokens of the image registry, for OCI clients.',
  },
] as const
