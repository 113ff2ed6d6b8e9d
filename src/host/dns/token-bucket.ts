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
