import type { TokenScope } from '../../domain/account/token-scope.ts'
import type { Operation } from '../operation.ts'

// What the document says about the tokens of an operation. OpenAPI 3.1 lets a requirement of a bearer token
// name the roles that the token needs; here they are scopes.

/** The role that stands for all rights. It is no scope that a token can have beside others. */
const allRightsRole = 'all'

export const securityScheme = {
  type: 'http',
  scheme: 'bearer',
  description:
    'A token has scopes, or all rights. `operate` includes `read`, and `read` includes `metrics`. The role `all` of an ' +
    'operation means that only a token with all rights may use it.',
}

/** The requirements of an operation. A token has to meet one of them. */
export function securityOf(scopes: readonly TokenScope[]): readonly object[] {
  const roles = scopes.length === 0 ? [allRightsRole] : scopes
  return roles.map((role) => ({ token: [role] }))
}

/** What an operation needs of a token, in words. */
export function tokenSentence({
  tokenScopes,
  withinServices,
}: Pick<Operation, 'tokenScopes' | 'withinServices'>): string {
  if (tokenScopes.length === 0) return 'Needs a token with all rights.'
  const named = tokenScopes.map((scope) => `\`${scope}\``).join(' or ')
  const limited = withinServices ? '' : ' that is not limited to services'
  return `Needs a token with the scope ${named}${limited}.`
}
