import { whyNoEndpoint } from '../../contract/absent-features.ts'
import { RequestError, requestError } from '../../contract/errors.ts'
import type { Problem } from '../../contract/errors.ts'
import type { RequestFailure } from '../../contract/envelope.ts'
import type { Database } from '../../db/database.ts'
import { databaseAnswers } from '../database-check.ts'
import { allowedMethods } from '../allowed-methods.ts'
import { absentEndpoint } from './absent-endpoint.ts'
import type { ApiContext, ApiMiddleware } from '../request-state.ts'

/** Turns every failure of a request into an envelope, including a path or a method that does not exist. */
export function errorEnvelope(database: Pick<Database, 'check'>): ApiMiddleware {
  return async (ctx, next) => {
    try {
      await next()
      if (ctx.status === 404 && ctx.body === undefined) throw unmatched(ctx)
    } catch (error) {
      const failure = error instanceof RequestError ? error : await unexpected(ctx, database, error)
      ctx.status = failure.httpStatus
      ctx.set(failure.headers)
      ctx.body = failureBody(failure.problems)
    }
  }
}

function unmatched(ctx: ApiContext): RequestError {
  const { method, path } = ctx
  const allowed = allowedMethods(path)
  if (allowed.length === 0) return absentEndpoint(ctx) ?? requestError('noEndpoint', { path })
  const list = allowed.join(', ')
  const reason = whyNoEndpoint(method, path)
  const name = reason === undefined ? 'wrongMethod' : 'absentMethod'
  return requestError(name, { method, path, allowed: list, reason: reason ?? '' }, { Allow: list })
}

/**
 * An unexpected error has one of three causes: the client went away, the database did, or the API has a
 * fault.
 */
async function unexpected(
  ctx: ApiContext,
  database: Pick<Database, 'check'>,
  error: unknown,
): Promise<RequestError> {
  if (ctx.req.socket.destroyed) {
    ctx.state.log.debug({ err: error }, 'the client went away')
    return requestError('badRequest')
  }
  ctx.state.log.error({ err: error }, 'request failed')
  if (!(await databaseAnswers(database))) return requestError('unavailable')
  return requestError('internal', { requestId: ctx.state.requestId })
}

export function failureBody(problems: readonly Problem[]): RequestFailure {
  return {
    status: 'error',
    message: problems.map((each) => each.message).join('; '),
    errors: problems.map(({ httpStatus, code, message }) => ({ status: httpStatus, error: code, message })),
  }
}
