import { Router } from '@koa/router'
import { requestError } from '../../contract/errors.ts'
import { signInsAtOnce, signInsPerMinute } from '../../contract/limits.ts'
import type { Identity } from '../../db/account/authenticator.ts'
import { TokenScope } from '../../domain/account/token-scope.ts'
import { TokenBuckets } from '../../domain/token-bucket.ts'
import type { ApiDeps } from '../deps.ts'
import type { ApiContext, RequestState } from '../request-state.ts'
import { timestamp } from '../timestamp.ts'
import { refuseForbidden } from '../token-check.ts'
import { clearSessionCookie, isFromOwnPage, sessionSecret, setSessionCookie } from './session-cookie.ts'

const path = '/console/session'
const maxTokenLength = 512
/** Addresses whose attempts are counted. The one that tried nothing for longest is forgotten. */
const maxAddresses = 10_000

/**
 * The endpoints by which the console's page signs a person in and out. They are not in the API's document:
 * a script has its token and needs no session.
 */
export function sessionRouter({
  tokens,
  sessions,
  nowMs,
}: Pick<ApiDeps, 'tokens' | 'sessions' | 'nowMs'>): Router<RequestState> {
  const router = new Router<RequestState>({ sensitive: true })
  const rate = { perSecond: signInsPerMinute / 60, burst: signInsAtOnce }
  const attempts = new TokenBuckets(rate, maxAddresses)

  router.use(path, async (ctx, next) => {
    ctx.state.route = path
    ctx.set('Cache-Control', 'no-store')
    if (!isFromOwnPage(ctx)) throw requestError('notFromConsole')
    await next()
  })

  router.post(path, async (ctx) => {
    const waitMs = attempts.waitFor(addressOf(ctx), nowMs())
    if (waitMs > 0) {
      const seconds = Math.ceil(waitMs / 1_000)
      throw requestError('tooManySignIns', { seconds }, { 'Retry-After': String(seconds) })
    }
    const found = await tokens.authenticate(givenToken(ctx.state.body))
    if (found.kind === 'expired') throw requestError('tokenExpired', { at: timestamp(found.at) })
    if (found.kind === 'unknown') throw requestError('tokenUnknown')
    refuseForbidden(found.identity, needed)
    const earlier = sessionSecret(ctx)
    if (earlier !== undefined) await sessions.end(earlier)
    const { secret, endsAt } = await sessions.begin(found.identity)
    setSessionCookie(ctx, secret)
    ctx.body = view(found.identity, endsAt)
  })

  // The page asks when a person does something, at most once a minute. That keeps the session.
  router.get(path, async (ctx) => {
    const secret = sessionSecret(ctx)
    const session = secret === undefined ? undefined : await sessions.use(secret)
    if (session === undefined) throw requestError('sessionEnded')
    ctx.body = view(session.identity, session.endsAt)
  })

  router.delete(path, async (ctx) => {
    const secret = sessionSecret(ctx)
    if (secret !== undefined) await sessions.end(secret)
    clearSessionCookie(ctx)
    ctx.status = 204
  })
  return router
}

/** Whoever can read nothing has no use for the console. */
const needed = { tokenScopes: [TokenScope.Read, TokenScope.Operate], withinServices: true }

function givenToken(body: unknown): string {
  const token = (body as { readonly token?: unknown } | null | undefined)?.token
  if (typeof token !== 'string' || token.trim() === '') {
    throw requestError('missingParameter', { name: 'token', place: 'the body' })
  }
  const given = token.trim()
  if (given.length > maxTokenLength) throw requestError('tokenUnknown')
  return given
}

/**
 * The client as the gateway names it, or the peer itself. A client that comes past the gateway may name any
 * address. That spares it the limit and nothing else: a token has 256 random bits, so nobody guesses one.
 */
function addressOf(ctx: ApiContext): string {
  return ctx.get('X-Forwarded-For').split(',').at(-1)?.trim() || (ctx.req.socket.remoteAddress ?? '')
}

function view(identity: Identity, endsAt: Date) {
  const { userName, tokenUuid, tokenName, scopes, services, admin, expiresAt } = identity
  return {
    user: userName,
    admin,
    token: { uuid: tokenUuid, name: tokenName, expires_at: expiresAt && timestamp(expiresAt) },
    scopes,
    services,
    ends_at: timestamp(endsAt),
  }
}
