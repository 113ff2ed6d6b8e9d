import { randomBytes } from 'node:crypto'

/**
 * What `roost host invite` prints: a secret that admits one part, and the fingerprint of the installation's
 * authority. The machine that joins sends the secret only to a server that this authority vouches for.
 */
export interface JoinToken {
  readonly secret: string
  readonly fingerprint: Buffer
}

const secretBytes = 24
const fingerprintBytes = 32
/** So that no token begins with a hyphen, as base64url may: on a command line that would be an option. */
const prefix = 'join_'

export function newJoinSecret(): string {
  return randomBytes(secretBytes).toString('base64url')
}

export function writeJoinToken({ secret, fingerprint }: JoinToken): string {
  return prefix + Buffer.concat([Buffer.from(secret, 'base64url'), fingerprint]).toString('base64url')
}

/** Undefined if the text is no such token, as when a part of it was not copied. */
export function readJoinToken(text: string): JoinToken | undefined {
  if (!text.startsWith(prefix)) return undefined
  const written = text.slice(prefix.length)
  const bytes = Buffer.from(written, 'base64url')
  if (bytes.length !== secretBytes + fingerprintBytes || bytes.toString('base64url') !== written)
    return undefined
  return {
    secret: bytes.subarray(0, secretBytes).toString('base64url'),
    fingerprint: bytes.subarray(secretBytes),
  }
}
