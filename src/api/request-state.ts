import type { Middleware, ParameterizedContext } from 'koa'
import type { Logger } from 'pino'
import { AskerKind } from '../domain/event/asker.ts'
import type { Asker } from '../domain/event/asker.ts'
import type { Identity } from '../db/account/authenticator.ts'

/**
 * What the middlewares and endpoints know of a request. The middleware for the id sets `requestId` and
 * `log`, the endpoint sets `route`, and the others set `identity` and `body`.
 */
export interface RequestState {
  requestId: string
  log: Logger
  /**
   * The name of the operation or endpoint, for logs and metrics. It is unset if there is nothing at the
   * path.
   */
  route?: string
  identity?: Identity
  /** Whether what the request was authenticated with is still valid. Set together with `identity`. */
  stillValid?: () => Promise<boolean>
  /** Lets the request count no more as one that is under way. It may be called more than once. */
  leave?: () => void
  /** The decoded body. It is absent if the request has none. */
  body?: unknown
}

export type ApiContext = ParameterizedContext<RequestState>
export type ApiMiddleware = Middleware<RequestState>

/** The identity of a request that passed authentication. */
export function identityOf(ctx: { readonly state: RequestState }): Identity {
  const { identity } = ctx.state
  if (identity === undefined) throw new Error('an operation was reached without authentication')
  return identity
}

/** The token and the request, as events name them. */
export function askerOf(ctx: { readonly state: RequestState }): Asker {
  const { tokenName } = identityOf(ctx)
  return { by: AskerKind.Token, name: tokenName, requestId: ctx.state.requestId }
}
