import { createHmac, hkdfSync } from 'node:crypto'

/** Returns the token that a user puts into DNS records to prove a domain. */
export type ProofTokens = (userUuid: string) => string

const keyBytes = 32

/**
 * Tokens are computed from the user and the installation's secret key. So nothing is stored, and nobody
 * without the key can compute another user's token. A token in DNS is public. That does no harm: whoever
 * copies it into other records proves a domain for the user of the token and for nobody else. The key for
 * tokens is derived from the secret key, so that it is not the key that seals rows.
 */
export function createProofTokens(secretKey: Uint8Array): ProofTokens {
  const key = Buffer.from(hkdfSync('sha256', secretKey, '', 'roost domain proof', keyBytes))
  return (userUuid) => createHmac('sha256', key).update(userUuid).digest('base64url')
}
