/**
 * A bucket of `burst` permits that fills by `perSecond`. Pure: the state goes in and comes out, the clock is an
 * argument.
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
 * Takes a permit, or `count` of them; `retryAfterMs` is 0 where there was one, else how long it takes until there is. One permit is
 * enough for any count: who took more than there were waits until all of them are made up for.
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

/** Buckets that are remembered; those that were made first are forgotten first, and begin full again. */
const maxBuckets = 4_096

/** A bucket for each instance or each user. */
export class TokenBuckets {
  readonly #rate: BucketRate
  readonly #buckets = new Map<string, Bucket>()

  constructor(rate: BucketRate) {
    this.#rate = rate
  }

  /** Whether there was a permit; `nowMs` is the caller's clock. */
  take(key: string, nowMs: number): boolean {
    return this.waitFor(key, nowMs) === 0
  }

  /** How long until there is a permit; 0 where there was one, and `count` were taken. */
  waitFor(key: string, nowMs: number, count = 1): number {
    const known = this.#buckets.get(key)
    const { bucket, retryAfterMs } = takePermit(this.#rate, known, nowMs, count)
    const oldest =
      known === undefined && this.#buckets.size >= maxBuckets ? this.#buckets.keys().next().value : undefined
    if (oldest !== undefined) this.#buckets.delete(oldest)
    this.#buckets.set(key, bucket)
    return retryAfterMs
  }
}
