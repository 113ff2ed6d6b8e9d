import { Roster } from '../roster.ts'
import type { Entry } from '../roster.ts'

/** Something that must move within `limitMs`, or is stuck. Times are of `performance.now()`. */
export interface Watched {
  readonly movedAtMs: number
  readonly limitMs: number
  stuck(): void
  /** The entry that the sweep keeps here. */
  watching: Entry<Watched> | undefined
}

const longestPeriodMs = 1_000

/** One timer for everything that waits, because setting one for each chunk costs more than the chunk. */
export class Sweep {
  readonly #watched = new Roster<Watched>()
  readonly #timer: NodeJS.Timeout

  constructor(shortestLimitMs: number) {
    this.#timer = setInterval(() => this.#look(), Math.min(longestPeriodMs, shortestLimitMs / 4))
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
    for (const watched of this.#watched) {
      if (nowMs - watched.movedAtMs < watched.limitMs) continue
      this.unwatch(watched)
      watched.stuck()
    }
  }
}
