import { setImmediate as settled } from 'node:timers/promises'
import type { Timers } from '../../activities/autoscale/service-observer.ts'

interface Timer {
  readonly atMs: number
  readonly callback: () => void
}

/**
 * How many turns of the event loop follow each timer, for everything that the timer starts. Promises that
 * wait for each other need a few.
 */
const turns = 3

/** Time that passes only when a test says so. */
export class VirtualClock {
  nowMs = 1_700_000_000_000
  readonly #timers = new Set<Timer>()
  readonly timers: Timers = {
    after: (delayMs, callback) => {
      const timer = { atMs: this.nowMs + delayMs, callback }
      this.#timers.add(timer)
      return () => this.#timers.delete(timer)
    },
  }

  get pending(): number {
    return this.#timers.size
  }

  async settle(): Promise<void> {
    for (let turn = 0; turn < turns; turn += 1) await settled()
  }

  /** Lets time pass. Every timer of that time fires in its order, with the clock at the timer's time. */
  async pass(ms: number): Promise<void> {
    const untilMs = this.nowMs + ms
    await this.settle()
    for (;;) {
      const [next] = [...this.#timers]
        .filter(({ atMs }) => atMs <= untilMs)
        .toSorted((one, other) => one.atMs - other.atMs)
      if (next === undefined) break
      this.#timers.delete(next)
      this.nowMs = Math.max(this.nowMs, next.atMs)
      next.callback()
      await this.settle()
    }
    this.nowMs = untilMs
  }

  async delay(ms: number): Promise<void> {
    await new Promise<void>((resolve) => this.timers.after(ms, resolve))
  }
}
