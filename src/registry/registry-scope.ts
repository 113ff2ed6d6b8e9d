import { officialNamespace } from '../domain/image/reference.ts'

/** What may be done to a repository, in the registry's own words. */
export const RegistryAction = { Pull: 'pull', Push: 'push', Delete: 'delete' } as const
export type RegistryAction = (typeof RegistryAction)[keyof typeof RegistryAction]
export const allActions: readonly RegistryAction[] = Object.values(RegistryAction)

/** One `scope` of a token request, and one entry of a token's `access` claim. */
export interface RegistryScope {
  readonly type: string
  readonly name: string
  readonly actions: readonly string[]
}

/** The user who asks for a token. It is absent if the client has no login. */
export interface RegistryUser {
  readonly name: string
  readonly admin: boolean
  /**
   * What the token of the user's login permits in repositories that the user may write. Everybody may pull
   * official images, whatever stands here.
   */
  readonly actions: readonly RegistryAction[]
}

/**
 * The most scopes of one request. A client asks for the repository to which it pushes and those from which
 * it mounts layers.
 */
export const maxScopes = 16
const maxScopeLength = 512

/**
 * Reads `repository:<name>:pull,push`. One parameter may hold several scopes, separated by blanks. Malformed
 * scopes are left out.
 */
export function parseScopes(parameters: readonly string[]): readonly RegistryScope[] {
  return parameters
    .flatMap((parameter) => parameter.split(' '))
    .filter((text) => text !== '' && text.length <= maxScopeLength)
    .slice(0, maxScopes)
    .flatMap((text) => parseScope(text))
}

function parseScope(text: string): readonly RegistryScope[] {
  // The name may hold a colon (a registry's port); the type and the actions can not.
  const match = /^([a-z]+(?:\([a-z]+\))?):(.+):([a-z*,]+)$/.exec(text)
  if (!match) return []
  const [, type = '', name = '', actions = ''] = match
  return [{ type, name, actions: [...new Set(actions.split(','))] }]
}

/**
 * The part of a requested scope that is granted. A user may do with `<user>/...` what the token of the login
 * permits, and read `official/...`. An administrator may also write `official/...`. A client without a login
 * may read `official/...`. A scope of which nothing is granted stays without actions, as the token protocol
 * demands.
 */
export function grantScope(scope: RegistryScope, user: RegistryUser | undefined): RegistryScope {
  const permitted = permittedActions(scope, user)
  const wanted = scope.actions.includes('*') ? allActions : scope.actions
  return { ...scope, actions: permitted.filter((action) => wanted.includes(action)) }
}

const boundedPrefix = 'bounded-'

/**
 * The same scope for a registry that has an owner (`src/registry/owner`). The registry itself does not know
 * these actions and refuses them. The owner in front of it knows them, and counts what is pushed. So a
 * user's token can not push past the owner.
 */
export function boundedScope(scope: RegistryScope): RegistryScope {
  const bounded = (action: string) => (action === RegistryAction.Pull ? action : `${boundedPrefix}${action}`)
  return { ...scope, actions: scope.actions.map(bounded) }
}

/** The scope from which `boundedScope` was made. A scope of the platform's own tokens stays as it is. */
export function unboundedScope(scope: RegistryScope): RegistryScope {
  const plain = (action: string) =>
    action.startsWith(boundedPrefix) ? action.slice(boundedPrefix.length) : action
  return { ...scope, actions: scope.actions.map(plain) }
}

function permittedActions(scope: RegistryScope, user: RegistryUser | undefined): readonly RegistryAction[] {
  if (scope.type !== 'repository') return []
  const slash = scope.name.indexOf('/')
  const namespace = slash > 0 ? scope.name.slice(0, slash) : ''
  const granted = user?.actions ?? []
  if (namespace === officialNamespace) {
    return user?.admin === true ? [...new Set([RegistryAction.Pull, ...granted])] : [RegistryAction.Pull]
  }
  return namespace !== '' && namespace === user?.name ? granted : []
}
