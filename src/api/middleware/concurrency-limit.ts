import { requestError } from '../../contract/errors.ts'
import { maxRequestsUnderWay } from '../../contract/limits.ts'
import { Counts } from '../../primitives/counts.ts'
import { identityOf } from '../request-state.ts'
import type { ApiMiddleware } from '../request-state.ts'

/** After how long the client is told to try again. One of the account's own requests has to end first. */
const retryAfterSeconds = 1

/**
 * Bounds how many requests one account has under way, over all its tokens. It is needed because a request
 * that waits holds a connection for minutes.
 */
export function concurrencyLimit(): ApiMiddleware {
  const underWay = new Counts()
  return async (ctx, next) => {
    const { userUuid } = identityOf(ctx)
    if (underWay.of(userUuid) >= maxRequestsUnderWay) {
      const seconds = retryAfterSeconds
      throw requestError('rateLimited', { seconds }, { 'Retry-After': String(seconds), Connection: 'close' })
    }
    let isCounted = true
    underWay.add(userUuid)
    ctx.state.leave = () => {
      if (isCounted) underWay.remove(userUuid)
      isCounted = false
    }
    try {
      await next()
    } finally {
      ctx.state.leave()
    }
  }
}
