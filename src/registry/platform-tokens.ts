import type { RegistryTokenSource } from './registry-http.ts'
import { RegistryAction } from './registry-scope.ts'
import { issuePlatformToken } from './token-issuer.ts'
import type { RegistryTokenIssuer } from './token-issuer.ts'

/** Well below the lifetime of a token, so that one that is handed out lasts for a request. */
const reusedMs = 120_000
/**
 * Repositories whose tokens are remembered; beyond that they are signed anew, which costs a fraction of a
 * millisecond.
 */
const maxRemembered = 1_000

/**
 * Tokens for a part of the platform that holds the signing key: the API reads by them, the stack seeds by
 * them.
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
