/**
 * A bucket of `burst` permits that fills by `perSecond`. Pure: the state goes in and comes out, the clock is
 * an argument.
 */
export interface BucketRate {
  readonly perSecond: number
  readonly burst: number
}

export interface Bucket {
  readonly permits: number
  readonly atMs: number
}

export type BucketDecision = { readonly bucket: Bucket; readonly retryAfterMs: number }

/**
 * Takes a permit, or `count` of them; `retryAfterMs` is 0 where there was one, else how long it takes until
 * there is. One permit is enough for any count: who took more than there were waits until all of them are
 * made up for.
 */
export function takePermit(
  rate: BucketRate,
  bucket: Bucket | undefined,
  nowMs: number,
  count = 1,
): BucketDecision {
  const elapsedMs = bucket === undefined ? 0 : Math.max(0, nowMs - bucket.atMs)
  const before = bucket?.permits ?? rate.burst
  const permits = Math.min(rate.burst, before + (elapsedMs / 1_000) * rate.perSecond)
  if (permits >= 1) return { bucket: { permits: permits - count, atMs: nowMs }, retryAfterMs: 0 }
  return { bucket: { permits, atMs: nowMs }, retryAfterMs: ((1 - permits) / rate.perSecond) * 1_000 }
}

const defaultMaxBuckets = 4_096

/**
 * A bucket for each instance, user or token. Of too many, the one that was unused for longest is forgotten,
 * and begins full again.
 */
export class TokenBuckets {
  readonly #rate: BucketRate
  readonly #maxBuckets: number
  /** The one that was unused for longest comes first. */
  readonly #buckets = new Map<string, Bucket>()

  constructor(rate: BucketRate, maxBuckets = defaultMaxBuckets) {
    this.#rate = rate
    this.#maxBuckets = maxBuckets
  }

  /** Whether there was a permit; `nowMs` is the caller's clock. */
  take(key: string, nowMs: number): boolean {
    return this.waitFor(key, nowMs) === 0
  }

  /** How long until there is a permit; 0 where there was one, and `count` were taken. */
  waitFor(key: string, nowMs: number, count = 1): number {
    const { bucket, retryAfterMs } = takePermit(this.#rate, this.#buckets.get(key), nowMs, count)
    // Deleted and set again: a map keeps the order of insertion.
    this.#buckets.delete(key)
    this.#buckets.set(key, bucket)
    if (this.#buckets.size > this.#maxBuckets) this.#buckets.delete(this.#buckets.keys().next().value!)
    return retryAfterMs
  }
}
