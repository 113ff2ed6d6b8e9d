import { noScopeSuffices } from '../../domain/account/token-scope.ts'
import { noParameters } from '../fields.ts'
import { DataKey, Scope, defineOperation } from '../operation.ts'
import { createTokenBody, createdToken, revokedToken, tokenDetails } from './token-schemas.ts'

/** A token that could make tokens would have all rights by making one that has them. */
const rights = { tokenScopes: noScopeSuffices, withinServices: false }

export const createTokens = defineOperation({
  id: 'createTokens',
  method: 'POST',
  path: '/v1/tokens',
  scope: Scope.Create,
  ...rights,
  place: 'token creation arguments',
  body: createTokenBody,
  query: noParameters,
  dataKey: DataKey.Tokens,
  entry: createdToken,
  summary: 'Create tokens',
  description:
    'Creates one token of the account per object of the body. Only this answer has the token itself. It does not outlive ' +
    'the token of the request.',
})

export const getTokens = defineOperation({
  id: 'getTokens',
  method: 'GET',
  path: '/v1/tokens',
  localPath: '/v1/tokens/{object}',
  scope: Scope.ObjectsOrAll,
  ...rights,
  identifiedBy: ['uuid'],
  place: 'token status arguments',
  body: noParameters,
  query: noParameters,
  dataKey: DataKey.Tokens,
  entry: tokenDetails,
  summary: 'Properties of tokens',
  description:
    'Without identifiers all tokens are returned, and their entries have no `status`. Tokens that were revoked, or that ' +
    'expired more than 30 days ago, are not shown.',
})

export const deleteTokens = defineOperation({
  id: 'deleteTokens',
  method: 'DELETE',
  path: '/v1/tokens',
  localPath: '/v1/tokens/{object}',
  scope: Scope.Objects,
  ...rights,
  identifiedBy: ['uuid'],
  place: 'token deletion arguments',
  body: noParameters,
  query: noParameters,
  dataKey: DataKey.Tokens,
  entry: revokedToken,
  summary: 'Revoke tokens',
  description: 'Within a second, no process accepts them any more.',
})

export const listTokens = defineOperation({
  id: 'listTokens',
  method: 'GET',
  path: '/v1/tokens/list',
  scope: Scope.Collection,
  ...rights,
  place: 'token list filter',
  body: noParameters,
  query: noParameters,
  dataKey: DataKey.Tokens,
  entry: tokenDetails,
  summary: 'List tokens',
  description: 'All tokens of the account, oldest first. An account has few, so the list has no pages.',
})
