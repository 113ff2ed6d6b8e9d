import type { TokenAuthenticator } from '../../db/account/authenticator.ts'
import { TokenScope, permits } from '../../domain/account/token-scope.ts'
import type { TokenRights } from '../../domain/account/token-scope.ts'
import { RegistryAction, allActions } from '../../registry/registry-scope.ts'
import { answerTokenRequest, issuePlatformToken } from '../../registry/token-issuer.ts'
import type { RegistryTokenIssuer, TokenAnswer, TokenRequest } from '../../registry/token-issuer.ts'

/** The tokens for the image registry, which trusts this API. */
export interface RegistryTokens {
  /** Answers `GET /registry/token` of the registry's token protocol. */
  answer(request: TokenRequest): Promise<TokenAnswer>
  /** Makes a token with which a host pulls one repository. */
  pullToken(repository: string): Promise<string>
}

export function createRegistryTokens(
  issuer: RegistryTokenIssuer,
  tokens: Pick<TokenAuthenticator, 'authenticateLogin'>,
  bounded = false,
): RegistryTokens {
  return {
    answer: (request) =>
      answerTokenRequest(request, {
        issuer,
        bounded,
        async authenticate(login) {
          const found = await tokens.authenticateLogin(login)
          if (found.kind !== 'valid') return undefined
          const { userName: name, admin } = found.identity
          return { name, admin, actions: actionsOf(found.identity) }
        },
      }),
    pullToken: (repository) => issuePlatformToken(issuer, repository, [RegistryAction.Pull]),
  }
}

/**
 * What a token permits in the repositories that its user may write. Images belong to the account, so a token
 * that is limited to services permits nothing.
 */
function actionsOf({ scopes, services }: TokenRights): readonly RegistryAction[] {
  if (services !== null) return []
  if (permits(scopes, [TokenScope.ImagesPush])) return allActions
  return permits(scopes, [TokenScope.Read]) ? [RegistryAction.Pull] : []
}
