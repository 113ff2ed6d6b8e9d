/** The most keys that are remembered. Beyond that the oldest one is forgotten, and told of once more. */
const mostKeys = 10_000

/**
 * What was told of a short time ago, so that a client with many connections does not fill the list of
 * events.
 */
export class RecentlyTold {
  readonly #quietMs: number
  /** The time of the last telling, by key; the oldest first. */
  readonly #toldAtMs = new Map<string, number>()

  constructor(quietMs: number) {
    this.#quietMs = quietMs
  }

  /** Returns whether this is to be told now, and then takes it as told. */
  isNews(key: string, nowMs: number): boolean {
    const last = this.#toldAtMs.get(key)
    if (last !== undefined && nowMs - last < this.#quietMs) return false
    this.#toldAtMs.delete(key)
    this.#toldAtMs.set(key, nowMs)
    if (this.#toldAtMs.size > mostKeys) {
      const [oldest] = this.#toldAtMs.keys()
      if (oldest !== undefined) this.#toldAtMs.delete(oldest)
    }
    return true
  }
}
