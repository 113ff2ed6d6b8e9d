import { createHash, randomBytes } from 'node:crypto'
import { parseUserName } from './users.ts'

/**
 * The secret of a token has two parts: 96 bits by which its row is found, and 256 bits that nobody can
 * guess.
 */
const selectorBytes = 12
const proofBytes = 32
const selectorLength = Buffer.alloc(selectorBytes).toString('base64url').length
const maxTokenLength = 512
const secretPattern = /^[\w-]+$/

export interface TokenSecret {
  readonly secret: string
  /** The part of the secret by which the token's row is found. */
  readonly selector: string
  readonly sha256: Buffer
}

export function newTokenSecret(): TokenSecret {
  const selector = randomBytes(selectorBytes).toString('base64url')
  return secretOf(`${selector}${randomBytes(proofBytes).toString('base64url')}`)
}

/** Reads the secret that a client has sent. Undefined if no token has such a secret. */
export function parseTokenSecret(text: string): TokenSecret | undefined {
  return text.length <= selectorLength || !secretPattern.test(text) ? undefined : secretOf(text)
}

function secretOf(secret: string): TokenSecret {
  const sha256 = createHash('sha256').update(secret).digest()
  return { secret, selector: secret.slice(0, selectorLength), sha256 }
}

/** The token as clients expect it: `base64(user:secret)`. */
export function tokenText(userName: string, secret: string): string {
  return Buffer.from(`${userName}:${secret}`).toString('base64')
}

/** The two parts of a token. Undefined if the text is not base64 of `user:secret` with one colon. */
export function splitToken(token: string): { readonly user: string; readonly secret: string } | undefined {
  if (token.length > maxTokenLength || !/^[A-Za-z0-9+/]+={0,2}$/.test(token)) return undefined
  const [user, secret, ...more] = Buffer.from(token, 'base64').toString('utf8').split(':')
  if (user === undefined || secret === undefined || more.length > 0) return undefined
  return { user, secret }
}

/** The name of the user. Some clients write it as `robot$<name>.users.kraftcloud`. */
export function clientUserName(user: string): string | undefined {
  return parseUserName(user.replace(/^robot\$/, '').replace(/\.users\.kraftcloud$/, ''))
}

/** What events call a token: its label, or its UUID if it has none. */
export function tokenName({ uuid, label }: { readonly uuid: string; readonly label: string }): string {
  return label === '' ? uuid : label
}
