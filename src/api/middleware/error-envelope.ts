import { RequestError, problem } from '../../contract/errors.ts'
import type { Problem } from '../../contract/errors.ts'
import type { RequestFailure } from '../../contract/envelope.ts'
import { allowedMethods } from '../allowed-methods.ts'
import type { ApiContext, ApiMiddleware } from '../request-state.ts'

/** Every failure of a request becomes an envelope, and so does a path or a method that leads nowhere. */
export function errorEnvelope(): ApiMiddleware {
  return async (ctx, next) => {
    try {
      await next()
      if (ctx.status === 404 && ctx.body === undefined) throw unmatched(ctx)
    } catch (error) {
      answerFailure(ctx, error)
    }
  }
}

function unmatched(ctx: ApiContext): RequestError {
  const allowed = allowedMethods(ctx.path)
  if (allowed.length === 0) return new RequestError([problem('noEndpoint', { path: ctx.path })])
  const list = allowed.join(', ')
  return new RequestError([problem('wrongMethod', { method: ctx.method, allowed: list })], { Allow: list })
}

function answerFailure(ctx: ApiContext, error: unknown): void {
  const failure = error instanceof RequestError ? error : internalFailure(ctx, error)
  ctx.status = failure.httpStatus
  ctx.set(failure.headers)
  ctx.body = failureBody(failure.problems)
}

function internalFailure(ctx: ApiContext, error: unknown): RequestError {
  ctx.state.log.error({ err: error }, 'request failed')
  return new RequestError([problem('internal', { requestId: ctx.state.requestId })])
}

export function failureBody(problems: readonly Problem[]): RequestFailure {
  return {
    status: 'error',
    errors: problems.map(({ httpStatus, code, message }) => ({ status: httpStatus, error: code, message })),
  }
}
