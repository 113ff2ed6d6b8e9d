import { requestError } from '../contract/errors.ts'
import type { Operation } from '../contract/operation.ts'
import type { Identity } from '../db/account/authenticator.ts'
import { permits } from '../domain/account/token-scope.ts'
import type { TokenRights } from '../domain/account/token-scope.ts'

/**
 * Refuses a request with 403 if its token does not permit the operation, whatever the request names. Objects
 * out of the reach of a limited token are the business of the operation's handler.
 */
export function refuseForbidden(
  { scopes, services }: TokenRights,
  { tokenScopes, withinServices }: Pick<Operation, 'tokenScopes' | 'withinServices'>,
): void {
  if (!permits(scopes, tokenScopes)) {
    const needed = tokenScopes.length === 0 ? 'all rights' : `the scope ${listed(tokenScopes, ' or ')}`
    throw requestError('scopeMissing', { has: held(scopes ?? []), needed })
  }
  if (services !== null && !withinServices) {
    throw requestError('outsideServices', { services: limitOf(services) })
  }
}

function held(scopes: readonly string[]): string {
  return `the ${scopes.length === 1 ? 'scope' : 'scopes'} ${listed(scopes, ', ')}`
}

/** The services of a limited token, in the words of messages. */
export function limitOf(services: NonNullable<Identity['services']>): string {
  return `the service ${services.length === 1 ? 'group' : 'groups'} ${listed(services, ', ')}`
}

function listed(words: readonly string[], separator: string): string {
  return words.map((word) => `'${word}'`).join(separator)
}
