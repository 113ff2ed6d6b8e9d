/**
 * A bucket holds up to `burst` permits and is filled with `perSecond` of them each second. The functions are
 * pure: they take the state and the time as arguments and return the new state.
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
 * Takes `count` permits. `retryAfterMs` is 0 if they were taken, else the time until they can be. One permit
 * is enough to take any count: the bucket then holds less than 0, and the next caller waits until that is
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
 * A bucket for each instance, user or token. If there are more than `maxBuckets`, the bucket that was
 * unused for longest is forgotten; the next time it is used, it is full again.
 */
export class TokenBuckets {
  readonly #rate: BucketRate
  readonly #maxBuckets: number
  /** The bucket that was unused for longest comes first. */
  readonly #buckets = new Map<string, Bucket>()

  constructor(rate: BucketRate, maxBuckets = defaultMaxBuckets) {
    this.#rate = rate
    this.#maxBuckets = maxBuckets
  }

  /** Takes a permit and returns true, or returns false if there is none. `nowMs` is the caller's clock. */
  take(key: string, nowMs: number): boolean {
    return this.waitFor(key, nowMs) === 0
  }

  /** Takes `count` permits and returns 0, or returns the time in ms until there is a permit. */
  waitFor(key: string, nowMs: number, count = 1): number {
    const { bucket, retryAfterMs } = takePermit(this.#rate, this.#buckets.get(key), nowMs, count)
    // The key is deleted and set again so that it becomes the last one: a map keeps the order of insertion.
    this.#buckets.delete(key)
    this.#buckets.set(key, bucket)
    if (this.#buckets.size > this.#maxBuckets) this.#buckets.delete(this.#buckets.keys().next().value!)
    return retryAfterMs
  }
}
