import { Roster } from '../roster.ts'
import type { Entry } from '../roster.ts'

/** A transfer that must move within `limitMs`; otherwise it is stuck. Times are of `performance.now()`. */
export interface Watched {
  readonly movedAtMs: number
  readonly limitMs: number
  stuck(): void
  /** The transfer's entry in the roster of the sweep, which sets and clears it. */
  watching: Entry<Watched> | undefined
}

const longestPeriodMs = 1_000

/** One timer that looks at all transfers. A timer for each chunk would cost more than the chunk. */
export class Sweep {
  readonly #watched = new Roster<Watched>()
  readonly #timer: NodeJS.Timeout
  readonly #periodMs: number
  /**
   * When the sweep looks next. It serves as the present time for what moves with every request: it costs
   * nothing to read, and a transfer is found stuck late by one period at most, never early.
   */
  nextLookMs: number

  constructor(shortestLimitMs: number) {
    this.#periodMs = Math.min(longestPeriodMs, shortestLimitMs / 4)
    this.nextLookMs = performance.now() + this.#periodMs
    this.#timer = setInterval(() => this.#look(), this.#periodMs)
    this.#timer.unref()
  }

  watch(watched: Watched): void {
    watched.watching ??= this.#watched.add(watched)
  }

  unwatch(watched: Watched): void {
    if (watched.watching === undefined) return
    this.#watched.remove(watched.watching)
    watched.watching = undefined
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #look(): void {
    const nowMs = performance.now()
    this.nextLookMs = nowMs + this.#periodMs
    for (const watched of this.#watched) {
      if (nowMs - watched.movedAtMs < watched.limitMs) continue
      this.unwatch(watched)
      watched.stuck()
    }
  }
}
