import { requestError } from '../../contract/errors.ts'
import type { TokenAuthenticator } from '../../db/account/authenticator.ts'
import type { ApiMiddleware } from '../request-state.ts'
import { timestamp } from '../timestamp.ts'

/** Finds the account of the bearer token, or refuses with 401. */
export function authenticate(tokens: TokenAuthenticator): ApiMiddleware {
  return async (ctx, next) => {
    const token = bearerToken(ctx.get('Authorization'))
    const found = token === undefined ? undefined : await tokens.authenticate(token)
    if (found?.kind !== 'valid') {
      const headers = { 'WWW-Authenticate': 'Bearer' }
      if (found?.kind === 'expired') throw requestError('tokenExpired', { at: timestamp(found.at) }, headers)
      throw requestError('unauthenticated', {}, headers)
    }
    ctx.state.identity = found.identity
    await next()
  }
}

export function bearerToken(authorization: string): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1]
}
