/** Kept free on the registry's disk, whatever the quotas promise: databases and hosts write there too. */
const keptFreeBytes = 1_073_741_824
/** How old a look at the disk may be. What passes meanwhile is counted. */
const looksEveryMs = 1_000

/** The room on the registry's disk that pushes may still take, all users together. */
export class DiskRoom {
  readonly #freeBytes: () => Promise<number>
  readonly #nowMs: () => number
  #leftBytes = 0
  #sinceLook = 0
  #lookedMs = Number.NEGATIVE_INFINITY
  #looking: Promise<void> | undefined

  constructor(options: { readonly freeBytes: () => Promise<number>; readonly nowMs: () => number }) {
    this.#freeBytes = options.freeBytes
    this.#nowMs = options.nowMs
  }

  /** Before the first `take` of a request. */
  async look(): Promise<void> {
    if (this.#nowMs() - this.#lookedMs < looksEveryMs) return
    await (this.#looking ??= this.#lookNow().finally(() => (this.#looking = undefined)))
  }

  /** Whether so much may be written; then it counts as written. */
  take(bytes: number): boolean {
    // A long push looks again on its way, without waiting for it. A look that fails leaves the last one, which only shrinks.
    void this.look().catch(() => undefined)
    if (bytes > this.#leftBytes - this.#sinceLook) return false
    this.#sinceLook += bytes
    return true
  }

  async #lookNow(): Promise<void> {
    this.#lookedMs = this.#nowMs()
    const before = this.#sinceLook
    this.#leftBytes = (await this.#freeBytes()) - keptFreeBytes
    this.#sinceLook -= before
  }
}
