import { ChallengeKind } from '../../domain/service/route-feed.ts'
import type { Routes } from '../routes.ts'
import type { ClientConnection } from './client-connection.ts'
import type { RequestHead } from './request-head.ts'

export const challengePath = '/.well-known/acme-challenge/'
/** The only port that authorities ask (RFC 8555, 8.3). */
const challengePort = 80

/**
 * The answer that an authority expects under a name whose certificate was ordered: the key authorization of
 * the token in the request's path. Returns undefined for everything else, including the tokens of other
 * names. That is routed like any request, because the application may prove something by itself. Nothing is
 * woken, and it does not matter whether anybody serves the name.
 */
export function challengeAnswer(
  head: RequestHead,
  connection: ClientConnection,
  routes: Routes,
): string | undefined {
  const { arrival } = connection
  if (arrival.publicPort !== challengePort || arrival.secure) return undefined
  if (!head.target.startsWith(challengePath) || (head.method !== 'GET' && head.method !== 'HEAD')) {
    return undefined
  }
  const challenge = routes.challenge(head.target.slice(challengePath.length))
  return challenge?.kind === ChallengeKind.Http01 && challenge.fqdn === head.host
    ? challenge.keyAuthorization
    : undefined
}

/**
 * The fields of the answer. They forbid caches to keep it: an authority that asks again has to get the
 * present answer.
 */
export function challengeFields(keyAuthorization: string): readonly string[] {
  return [
    'Content-Type',
    'text/plain',
    'Content-Length',
    String(Buffer.byteLength(keyAuthorization)),
    'Cache-Control',
    'no-store',
    'X-Content-Type-Options',
    'nosniff',
  ]
}
