import { createHmac, hkdfSync } from 'node:crypto'

/** A user's token in the DNS records that prove domains. */
export type ProofTokens = (userUuid: string) => string

const keyBytes = 32

/**
 * Tokens follow from the user and the installation's secret key, so that nothing is stored, and that nobody
 * who does not have the key can tell another user's. They are no secret once they stand in DNS: who copies
 * one proves a domain for its user and for nobody else. The key is derived, so that it is never the one that
 * seals rows.
 */
export function createProofTokens(secretKey: Uint8Array): ProofTokens {
  const key = Buffer.from(hkdfSync('sha256', secretKey, '', 'roost domain proof', keyBytes))
  return (userUuid) => createHmac('sha256', key).update(userUuid).digest('base64url')
}
