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

/** Takes a permit; `retryAfterMs` is 0 where there was one, else how long it takes until there is. */
export function takePermit(rate: BucketRate, bucket: Bucket | undefined, nowMs: number): BucketDecision {
  const elapsedMs = bucket === undefined ? 0 : Math.max(0, nowMs - bucket.atMs)
  const before = bucket?.permits ?? rate.burst
  const permits = Math.min(rate.burst, before + (elapsedMs / 1_000) * rate.perSecond)
  if (permits >= 1) return { bucket: { permits: permits - 1, atMs: nowMs }, retryAfterMs: 0 }
  return { bucket: { permits, atMs: nowMs }, retryAfterMs: ((1 - permits) / rate.perSecond) * 1_000 }
}
