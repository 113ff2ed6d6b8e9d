import { randomUUID } from 'node:crypto'
import { SignJWT } from 'jose'
import { registryIssuer, registryService } from './registry-config.ts'
import { boundedScope, grantScope, parseScopes, RegistryAction } from './registry-scope.ts'
import type { RegistryScope, RegistryUser } from './registry-scope.ts'
import type { RegistrySigningKey } from './signing-key.ts'

/**
 * The lifetime of a registry token. A push of a large image asks for a new token when this one expires. If a
 * user's token is revoked, registry tokens that were made from it stay valid for up to this long.
 */
const tokenLifetimeSeconds = 300
/**
 * How long before its making a token is valid already, because the registry and the API may be on machines
 * whose clocks differ a little.
 */
const clockToleranceSeconds = 30

export interface RegistryTokenIssuer {
  /**
   * Makes a signed token for exactly these scopes. The caller has already checked that they may be granted.
   */
  issue(subject: string, access: readonly RegistryScope[]): Promise<IssuedToken>
}

export interface IssuedToken {
  readonly token: string
  readonly expiresInSeconds: number
  readonly issuedAt: Date
}

export function createRegistryTokenIssuer(
  key: RegistrySigningKey,
  nowMs: () => number = Date.now,
): RegistryTokenIssuer {
  return {
    async issue(subject, access) {
      const now = Math.floor(nowMs() / 1000)
      const token = await new SignJWT({ access: access.filter((scope) => scope.actions.length > 0) })
        .setProtectedHeader({ alg: 'ES256', typ: 'JWT', x5c: [key.certificate] })
        .setIssuer(registryIssuer)
        .setAudience(registryService)
        .setSubject(subject)
        .setJti(randomUUID())
        .setIssuedAt(now)
        .setNotBefore(now - clockToleranceSeconds)
        .setExpirationTime(now + tokenLifetimeSeconds)
        .sign(key.key)
      return { token, expiresInSeconds: tokenLifetimeSeconds, issuedAt: new Date(now * 1000) }
    },
  }
}

/**
 * A token with which the platform itself reads or writes one repository: agents pull with it, the API lists
 * with it. `registryCatalog` in place of a repository permits listing all repositories.
 */
export async function issuePlatformToken(
  issuer: RegistryTokenIssuer,
  repository: string,
  actions: readonly RegistryAction[] = [RegistryAction.Pull],
): Promise<string> {
  const scope =
    repository === registryCatalog
      ? { type: 'registry', name: 'catalog', actions: ['*'] }
      : { type: 'repository', name: repository, actions }
  const issued = await issuer.issue('roost', [scope])
  return issued.token
}

/** The name that means the list of all repositories. No repository can have this name. */
export const registryCatalog = '*catalog*'

/** The parts of a `GET /registry/token` request that matter. */
export interface TokenRequest {
  readonly authorization: string | undefined
  readonly service: string | undefined
  readonly scopes: readonly string[]
}

export type TokenAnswer =
  | {
      readonly status: 200
      readonly body: { token: string; access_token: string; expires_in: number; issued_at: string }
    }
  | { readonly status: 400 | 401; readonly message: string }

/**
 * Finds the user for the credentials of the Basic header: the name, and as password either a token as the
 * API accepts it or only its secret. Undefined if the two do not belong together.
 */
export type AuthenticateRegistryUser = (credentials: {
  readonly user: string
  readonly password: string
}) => Promise<RegistryUser | undefined>

/**
 * Answers a token request of the registry protocol. A request without credentials gets what everybody may
 * have. Wrong credentials are refused even if none were needed, so that `docker login` reports them.
 */
export async function answerTokenRequest(
  request: TokenRequest,
  deps: {
    readonly issuer: RegistryTokenIssuer
    readonly authenticate: AuthenticateRegistryUser
    /** Whether users can push only through the registry's owner. */
    readonly bounded?: boolean
  },
): Promise<TokenAnswer> {
  if (request.service !== undefined && request.service !== registryService) {
    return { status: 400, message: `tokens are issued for the service '${registryService}' only` }
  }
  const credentials = readBasicCredentials(request.authorization)
  const user = credentials && (await deps.authenticate(credentials))
  if (request.authorization !== undefined && user === undefined) {
    return { status: 401, message: 'the user name or the token is not valid' }
  }
  const granted = parseScopes(request.scopes)
    .map((scope) => grantScope(scope, user))
    .map((scope) => (deps.bounded === true ? boundedScope(scope) : scope))
  const issued = await deps.issuer.issue(user?.name ?? '', granted)
  return {
    status: 200,
    body: {
      token: issued.token,
      access_token: issued.token,
      expires_in: issued.expiresInSeconds,
      issued_at: issued.issuedAt.toISOString(),
    },
  }
}

function readBasicCredentials(header: string | undefined) {
  const match = /^Basic +([A-Za-z0-9+/=_-]{1,8192})$/i.exec(header ?? '')
  if (!match?.[1]) return undefined
  const text = Buffer.from(match[1], 'base64').toString('utf8')
  const colon = text.indexOf(':')
  return colon > 0 ? { user: text.slice(0, colon), password: text.slice(colon + 1) } : undefined
}
