import type { Middleware, ParameterizedContext } from 'koa'
import type { Logger } from 'pino'
import type { Identity } from '../db/account/tokens.ts'

/** What the middlewares know of a request. Each field is set by the middleware of that name. */
export interface RequestState {
  requestId: string
  log: Logger
  /** The operation or endpoint, for logs and metrics; unset if the path leads nowhere. */
  route?: string
  identity?: Identity
  /** The decoded body; absent if there is none. */
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
