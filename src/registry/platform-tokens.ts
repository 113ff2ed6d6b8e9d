import type { RegistryTokenSource } from './registry-http.ts'
import { RegistryAction } from './registry-scope.ts'
import { issuePlatformToken } from './token-issuer.ts'
import type { RegistryTokenIssuer } from './token-issuer.ts'

/**
 * How long a token is given to further callers. That is well below its lifetime, so that it stays valid for
 * a whole request.
 */
const reusedMs = 120_000
/**
 * The most repositories whose tokens are remembered. Beyond that number tokens are signed again, which takes
 * a fraction of a millisecond.
 */
const maxRemembered = 1_000

/**
 * Tokens for a part of the platform that holds the signing key: the API reads with them, the stack seeds
 * with them.
 */
export function platformTokens(
  issuer: RegistryTokenIssuer,
  actions: readonly RegistryAction[] = [RegistryAction.Pull],
  nowMs: () => number = Date.now,
): RegistryTokenSource {
  const remembered = new Map<string, { readonly token: string; readonly issuedMs: number }>()
  return async (repository) => {
    const known = remembered.get(repository)
    if (known && nowMs() - known.issuedMs < reusedMs) return known.token
    const token = await issuePlatformToken(issuer, repository, actions)
    if (remembered.size >= maxRemembered) remembered.clear()
    remembered.set(repository, { token, issuedMs: nowMs() })
    return token
  }
}
