import { requestError } from '../../contract/errors.ts'
import type { Authentication } from '../../db/account/authenticator.ts'
import { isFromOwnPage, sessionSecret } from '../console/session-cookie.ts'
import type { ApiDeps } from '../deps.ts'
import type { ApiContext, ApiMiddleware } from '../request-state.ts'
import { timestamp } from '../timestamp.ts'

const headers = { 'WWW-Authenticate': 'Bearer' }

/**
 * Finds the account of the bearer token, or of the console's session if there is no such header. Refuses with
 * 401, and a session that another page uses with 403.
 */
export function authenticate({ tokens, sessions }: Pick<ApiDeps, 'tokens' | 'sessions'>): ApiMiddleware {
  return async (ctx, next) => {
    const token = bearerToken(ctx.get('Authorization'))
    const secret = ctx.get('Authorization') === '' ? sessionSecret(ctx) : undefined
    if (secret === undefined) await byToken(ctx, token)
    else await bySession(ctx, secret)
    await next()
  }

  async function byToken(ctx: ApiContext, token: string | undefined): Promise<void> {
    const found = token === undefined ? undefined : await tokens.authenticate(token)
    if (token === undefined || found?.kind !== 'valid') throw tokenRefusal(found)
    ctx.state.identity = found.identity
    ctx.state.stillValid = async () => (await tokens.authenticate(token)).kind === 'valid'
  }

  async function bySession(ctx: ApiContext, secret: string): Promise<void> {
    if (!isFromOwnPage(ctx)) throw requestError('notFromConsole')
    const found = await sessions.find(secret)
    if (found === undefined) throw requestError('sessionEnded', {}, headers)
    ctx.state.identity = found.identity
    ctx.state.stillValid = async () => (await sessions.find(secret)) !== undefined
  }
}

function tokenRefusal(found: Authentication | undefined) {
  if (found?.kind === 'expired') return requestError('tokenExpired', { at: timestamp(found.at) }, headers)
  return requestError('unauthenticated', {}, headers)
}

export function bearerToken(authorization: string): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1]
}
