import type { TokenAuthenticator } from '../../db/account/tokens.ts'
import { RegistryAction } from '../../registry/registry-scope.ts'
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
          const identity = await tokens.authenticateLogin(login)
          return identity && { name: identity.userName, admin: identity.admin }
        },
      }),
    pullToken: (repository) => issuePlatformToken(issuer, repository, [RegistryAction.Pull]),
  }
}
