import { TokenScope } from '../../domain/account/token-scope.ts'
import { noParameters } from '../fields.ts'
import { DataKey, Scope, TextForm, defineOperation } from '../operation.ts'
import { explainedHost, hostDetails } from './responses.ts'

const forAdministrators =
  'For administrators. To any other account it looks as if there were no hosts. A host is named by the id under ' +
  'which it joined; one whose id is no name is only in the answer about all hosts.'

export const getHosts = defineOperation({
  id: 'getHosts',
  method: 'GET',
  path: '/v1/hosts',
  localPath: '/v1/hosts/{object}',
  scope: Scope.ObjectsOrAll,
  identifiedBy: ['name'],
  tokenScopes: [TokenScope.Read],
  withinServices: false,
  place: 'host status arguments',
  body: noParameters,
  query: noParameters,
  dataKey: DataKey.Hosts,
  entry: hostDetails,
  summary: 'Status of hosts',
  description: forAdministrators,
})

export const explainHosts = defineOperation({
  id: 'explainHosts',
  method: 'GET',
  path: '/v1/hosts/explain',
  localPath: '/v1/hosts/{object}/explain',
  scope: Scope.ObjectsOrAll,
  identifiedBy: ['name'],
  tokenScopes: [TokenScope.Read],
  withinServices: false,
  place: 'host explanation arguments',
  body: noParameters,
  query: noParameters,
  dataKey: DataKey.Hosts,
  entry: explainedHost,
  textForm: TextForm.Explanation,
  summary: 'Explain hosts',
  description: `Whether a host is heard, what it has and how much room is left, and what that means. ${forAdministrators}`,
})
