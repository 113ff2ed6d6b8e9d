/** So many at once, so many per second; `nowMs` is the caller's clock. */
export class TokenBucket {
  readonly #perS: number
  readonly #burst: number
  #tokens: number
  #filledAtMs: number

  constructor(options: { readonly perS: number; readonly burst: number; readonly nowMs: number }) {
    this.#perS = options.perS
    this.#burst = options.burst
    this.#tokens = options.burst
    this.#filledAtMs = options.nowMs
  }

  take(nowMs: number): boolean {
    const filled = this.#tokens + ((nowMs - this.#filledAtMs) / 1_000) * this.#perS
    this.#tokens = Math.min(this.#burst, filled)
    this.#filledAtMs = nowMs
    if (this.#tokens < 1) return false
    this.#tokens -= 1
    return true
  }
}

/** Buckets that are remembered; those that were made first are forgotten first, and begin full again. */
const maxBuckets = 4_096

/** A bucket for each instance or each user. */
export class TokenBuckets {
  readonly #rate: { readonly perS: number; readonly burst: number }
  readonly #buckets = new Map<string, TokenBucket>()

  constructor(rate: { readonly perS: number; readonly burst: number }) {
    this.#rate = rate
  }

  take(key: string, nowMs: number): boolean {
    let bucket = this.#buckets.get(key)
    if (bucket === undefined) {
      bucket = new TokenBucket({ ...this.#rate, nowMs })
      const oldest = this.#buckets.size < maxBuckets ? undefined : this.#buckets.keys().next().value
      if (oldest !== undefined) this.#buckets.delete(oldest)
      this.#buckets.set(key, bucket)
    }
    return bucket.take(nowMs)
  }
}
