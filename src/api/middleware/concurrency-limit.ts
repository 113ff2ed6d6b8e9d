import { requestError } from '../../contract/errors.ts'
import { maxRequestsUnderWay } from '../../contract/limits.ts'
import { identityOf } from '../request-state.ts'
import type { ApiMiddleware } from '../request-state.ts'

/** After how long the client is told to try again. One of the account's own requests has to end first. */
const retryAfterSeconds = 1

/**
 * Bounds how many requests one account has under way, over all its tokens. It is needed because a request
 * that waits holds a connection for minutes.
 */
export function concurrencyLimit(): ApiMiddleware {
  const underWay = new Map<string, number>()
  return async (ctx, next) => {
    const { userUuid } = identityOf(ctx)
    const count = underWay.get(userUuid) ?? 0
    if (count >= maxRequestsUnderWay) {
      const seconds = retryAfterSeconds
      throw requestError('rateLimited', { seconds }, { 'Retry-After': String(seconds), Connection: 'close' })
    }
    underWay.set(userUuid, count + 1)
    try {
      await next()
    } finally {
      const left = (underWay.get(userUuid) ?? 1) - 1
      if (left === 0) underWay.delete(userUuid)
      else underWay.set(userUuid, left)
    }
  }
}
