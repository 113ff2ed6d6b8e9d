import { createHash, timingSafeEqual } from 'node:crypto'

/**
 * Whether a header `Authorization` has this secret. It compares digests, which all have the same length, so
 * that the time taken tells nothing about the secret.
 */
export function bearsSecret(authorization: string | undefined, secret: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(authorization ?? ''), digest(`Bearer ${secret}`))
}
