import type { Counter } from 'prom-client'
import { requestError } from '../../contract/errors.ts'
import { identityOf } from '../request-state.ts'
import type { ApiMiddleware } from '../request-state.ts'
import { takePermit } from '../../domain/token-bucket.ts'
import type { Bucket, BucketRate } from '../../domain/token-bucket.ts'

/** Buckets kept; the one unused for longest goes first, and is full again by then. */
const maxBuckets = 10_000

/** Bounds the requests of one token. Each API process counts for itself. */
export function rateLimit(options: {
  readonly rate: BucketRate
  readonly refused: Counter
  readonly nowMs: () => number
}): ApiMiddleware {
  const buckets = new Map<string, Bucket>()
  return async (ctx, next) => {
    const { tokenUuid } = identityOf(ctx)
    const { bucket, retryAfterMs } = takePermit(options.rate, buckets.get(tokenUuid), options.nowMs())
    // Deleted and set again: a map keeps the order of insertion, so the first one is the longest unused.
    buckets.delete(tokenUuid)
    buckets.set(tokenUuid, bucket)
    if (buckets.size > maxBuckets) buckets.delete(buckets.keys().next().value!)
    if (retryAfterMs > 0) {
      options.refused.inc()
      const seconds = Math.ceil(retryAfterMs / 1_000)
      throw requestError('rateLimited', { seconds }, { 'Retry-After': String(seconds) })
    }
    await next()
  }
}
