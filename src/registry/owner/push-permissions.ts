import { createPublicKey } from 'node:crypto'
import { jwtVerify } from 'jose'
import { registryIssuer, registryService } from '../registry-config.ts'
import { unboundedScope } from '../registry-scope.ts'
import type { RegistryAction, RegistryScope } from '../registry-scope.ts'
import type { RegistrySigningKey } from '../signing-key.ts'
import type { RegistryTokenIssuer } from '../token-issuer.ts'

/**
 * Verifies the tokens of requests, and exchanges one for a token with which the registry itself may be
 * written.
 */
export interface PushPermissions {
  /**
   * Returns the user to whom the token belongs. The name is empty for a token that was given without a
   * login. The result is undefined if the token is not valid.
   */
  userOf(authorization: string | undefined): Promise<string | undefined>
  /**
   * Returns a token that the registry accepts, with the rights of the token in `authorization`. Undefined if
   * that token is not valid, or does not permit `action` on the repository: the registry then refuses the
   * request by itself.
   */
  permit(
    authorization: string | undefined,
    wish: { readonly repository: string; readonly action: RegistryAction },
  ): Promise<string | undefined>
}

/** The difference of clocks that is tolerated in a token's times. The registry tolerates the same. */
const clockToleranceSeconds = 60
/** How long an exchanged token is used for further requests. That is well below the token's lifetime. */
const reusedMs = 120_000
/** The most tokens whose verified signature is remembered. A push sends the same token with each request. */
const maxRemembered = 1_000
const maxTokenLength = 16_384

interface Known {
  readonly access: readonly RegistryScope[]
  readonly subject: string
  readonly expiresMs: number
  exchanged?: { readonly token: string; readonly issuedMs: number }
}

export function createPushPermissions(
  key: RegistrySigningKey,
  issuer: RegistryTokenIssuer,
  nowMs: () => number = Date.now,
): PushPermissions {
  const publicKey = createPublicKey(key.key)
  const remembered = new Map<string, Known>()

  async function verified(authorization: string | undefined): Promise<Known | undefined> {
    const [, token = ''] = /^Bearer +([\w.-]+)$/i.exec(authorization ?? '') ?? []
    if (token === '' || token.length > maxTokenLength) return undefined
    const before = remembered.get(token)
    if (before !== undefined) return nowMs() < before.expiresMs ? before : undefined
    try {
      const { payload } = await jwtVerify(token, publicKey, {
        issuer: registryIssuer,
        audience: registryService,
        algorithms: ['ES256'],
        clockTolerance: clockToleranceSeconds,
        currentDate: new Date(nowMs()),
        requiredClaims: ['exp'],
      })
      const known: Known = {
        // Only the platform signs tokens, so the claim has the form that the platform gave it.
        access: ((payload['access'] ?? []) as readonly RegistryScope[]).map(unboundedScope),
        subject: payload.sub ?? '',
        expiresMs: ((payload.exp ?? 0) + clockToleranceSeconds) * 1000,
      }
      if (remembered.size >= maxRemembered) remembered.clear()
      remembered.set(token, known)
      return known
    } catch {
      return undefined
    }
  }

  return {
    userOf: async (authorization) => (await verified(authorization))?.subject,
    async permit(authorization, { repository, action }) {
      const known = await verified(authorization)
      const isPermitted = known?.access.some(
        ({ type, name, actions }) => type === 'repository' && name === repository && actions.includes(action),
      )
      if (known === undefined || isPermitted !== true) return undefined
      if (known.exchanged === undefined || nowMs() - known.exchanged.issuedMs > reusedMs) {
        const { token: exchanged } = await issuer.issue(known.subject, known.access)
        known.exchanged = { token: exchanged, issuedMs: nowMs() }
      }
      return known.exchanged.token
    },
  }
}
