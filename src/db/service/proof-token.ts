import { createHmac, hkdfSync } from 'node:crypto'

/** Returns the token that a user puts into DNS records to prove a domain. */
export type ProofTokens = (userUuid: string) => string

const keyBytes = 32

/**
 * Tokens are computed from the user and the installation's secret key. So nothing is stored, and nobody
 * without the key can compute another user's token. A token is no secret once it stands in DNS: somebody who
 * copies it proves a domain for its user and for nobody else. The key for tokens is derived, so that it is
 * never the key that seals rows.
 */
export function createProofTokens(secretKey: Uint8Array): ProofTokens {
  const key = Buffer.from(hkdfSync('sha256', secretKey, '', 'roost domain proof', keyBytes))
  return (userUuid) => createHmac('sha256', key).update(userUuid).digest('base64url')
}
