import type { Counter } from 'prom-client'
import { requestError } from '../../contract/errors.ts'
import { identityOf } from '../request-state.ts'
import type { ApiMiddleware } from '../request-state.ts'
import { TokenBuckets } from '../../domain/token-bucket.ts'
import type { BucketRate } from '../../domain/token-bucket.ts'

/**
 * The largest number of buckets. With more, the one that was unused for longest is forgotten. It is full
 * again by then, so nothing is lost.
 */
const maxBuckets = 10_000

/** Bounds the requests of one token. Each API process counts for itself. */
export function rateLimit(options: {
  readonly rate: BucketRate
  readonly refused: Counter
  readonly nowMs: () => number
}): ApiMiddleware {
  const buckets = new TokenBuckets(options.rate, maxBuckets)
  return async (ctx, next) => {
    const retryAfterMs = buckets.waitFor(identityOf(ctx).tokenUuid, options.nowMs())
    if (retryAfterMs > 0) {
      options.refused.inc()
      const seconds = Math.ceil(retryAfterMs / 1_000)
      throw requestError('rateLimited', { seconds }, { 'Retry-After': String(seconds) })
    }
    await next()
  }
}
