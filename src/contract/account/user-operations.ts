import { TokenScope, noScopeSuffices } from '../../domain/account/token-scope.ts'
import { noParameters } from '../fields.ts'
import { DataKey, Scope, defineOperation } from '../operation.ts'
import { createUserBody, createdUser, setQuotasBody, userDetails } from './user-schemas.ts'

const unseen = 'For administrators. To any other account it looks as if there were no accounts.'

export const getUsers = defineOperation({
  id: 'getUsers',
  method: 'GET',
  path: '/v1/users',
  localPath: '/v1/users/{object}',
  scope: Scope.ObjectsOrAll,
  tokenScopes: [TokenScope.Read],
  withinServices: false,
  place: 'user status arguments',
  body: noParameters,
  query: noParameters,
  paged: true,
  dataKey: DataKey.Users,
  entry: userDetails,
  summary: 'Accounts with their quotas',
  description:
    `${unseen} Without identifiers all accounts are returned, the oldest first, and their entries have no \`status\`. ` +
    'An account whose name is a word of the API, such as `quotas`, is named by its UUID or in the query.',
})

export const createUsers = defineOperation({
  id: 'createUsers',
  method: 'POST',
  path: '/v1/users',
  scope: Scope.Create,
  tokenScopes: noScopeSuffices,
  withinServices: false,
  place: 'user creation arguments',
  body: createUserBody,
  query: noParameters,
  dataKey: DataKey.Users,
  entry: createdUser,
  summary: 'Create accounts',
  description:
    'For administrators. Creates one account per object of the body, each with a token that has all rights. Only this answer ' +
    'has the token itself. No account is an administrator, and no operation makes a token for an account that exists.',
})

export const setUserQuotas = defineOperation({
  id: 'setUserQuotas',
  method: 'PUT',
  path: '/v1/users/quotas',
  localPath: '/v1/users/{object}/quotas',
  scope: Scope.Objects,
  tokenScopes: noScopeSuffices,
  withinServices: false,
  place: 'quota arguments',
  body: setQuotasBody,
  query: noParameters,
  dataKey: DataKey.Users,
  entry: userDetails,
  summary: 'Change quotas of accounts',
  description: `${unseen} What is left out stays as it is. Objects that are beyond a lowered quota stay, too.`,
})
