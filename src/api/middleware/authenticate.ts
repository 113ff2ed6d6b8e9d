import { requestError } from '../../contract/errors.ts'
import type { TokenAuthenticator } from '../../db/account/tokens.ts'
import type { ApiMiddleware } from '../request-state.ts'

/** Finds the account of the bearer token, or refuses with 401. */
export function authenticate(tokens: TokenAuthenticator): ApiMiddleware {
  return async (ctx, next) => {
    const token = bearerToken(ctx.get('Authorization'))
    const identity = token === undefined ? undefined : await tokens.authenticate(token)
    if (identity === undefined) {
      throw requestError('unauthenticated', {}, { 'WWW-Authenticate': 'Bearer' })
    }
    ctx.state.identity = identity
    await next()
  }
}

export function bearerToken(authorization: string): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1]
}
