import { sourceOf } from '../source.ts'
import type { ListenerLimits } from './listener-limits.ts'

/** Who has how many connections open. */
export class ConnectionCount {
  readonly #limits: ListenerLimits
  readonly #bySource = new Map<string, number>()
  #all = 0

  constructor(limits: ListenerLimits) {
    this.#limits = limits
  }

  get all(): number {
    return this.#all
  }

  /** Counts one more and gives how to take it back, which is idempotent; undefined where it is too many. */
  take(address: string): (() => void) | undefined {
    const source = sourceOf(address)
    const count = this.#bySource.get(source) ?? 0
    if (count >= this.#limits.connectionsPerSource || this.#all >= this.#limits.connections) return undefined
    this.#bySource.set(source, count + 1)
    this.#all += 1
    let over = false
    return () => {
      if (over) return
      over = true
      this.#all -= 1
      const left = (this.#bySource.get(source) ?? 1) - 1
      if (left === 0) this.#bySource.delete(source)
      else this.#bySource.set(source, left)
    }
  }
}
