import { whyNoEndpoint } from '../../contract/absent-features.ts'
import { requestError } from '../../contract/errors.ts'
import type { RequestError } from '../../contract/errors.ts'
import type { ApiContext, ApiMiddleware } from '../request-state.ts'

/** The refusal of an endpoint that clients know from elsewhere; undefined if the path is none of those. */
export function absentEndpoint({
  method,
  path,
}: Pick<ApiContext, 'method' | 'path'>): RequestError | undefined {
  const reason = whyNoEndpoint(method, path)
  return reason === undefined ? undefined : requestError('absentEndpoint', { method, path, reason })
}

/**
 * Refuses requests such as `GET /v1/instances/history?name=web`, which would be about an instance called
 * `history` otherwise. Without a name in the query that instance may be meant.
 */
export function refuseAbsentEndpoints(): ApiMiddleware {
  return async (ctx, next) => {
    const query = new URLSearchParams(ctx.querystring)
    const refusal = query.has('uuid') || query.has('name') ? absentEndpoint(ctx) : undefined
    if (refusal !== undefined) throw refusal
    await next()
  }
}
