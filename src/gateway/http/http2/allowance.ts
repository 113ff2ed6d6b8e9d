/** How often something may happen within a time. What is worth it may earn more. */
export class Allowance {
  readonly #most: number
  readonly #windowMs: number
  #left: number
  #sinceMs = performance.now()

  constructor({ most, windowMs }: { readonly most: number; readonly windowMs: number }) {
    this.#most = most
    this.#windowMs = windowMs
    this.#left = most
  }

  earn(count: number): void {
    this.#left = Math.min(this.#left + count, this.#most * 2)
  }

  /** Returns false if it was too often. The time is only read when nothing is left. */
  spend(): boolean {
    this.#left -= 1
    if (this.#left >= 0) return true
    const nowMs = performance.now()
    if (nowMs - this.#sinceMs < this.#windowMs) return false
    this.#sinceMs = nowMs
    this.#left = this.#most - 1
    return true
  }
}
