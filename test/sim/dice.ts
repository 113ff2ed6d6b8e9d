/** A random sequence that its seed decides (mulberry32). */
export class Dice {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** Returns a number from 0 up to, but not including, 1. */
  fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  chance(probability: number): boolean {
    return this.fraction() < probability
  }

  between(low: number, high: number): number {
    return low + this.fraction() * (high - low)
  }

  /**
   * Returns a number that is mostly small and sometimes large: as often between 1 and 10 as between 10 and
   * 100.
   */
  stretched(low: number, high: number): number {
    return low * (high / low) ** this.fraction()
  }

  whole(low: number, high: number): number {
    return Math.floor(this.between(low, high + 1))
  }

  pick<T>(of: readonly T[]): T {
    const found = of[Math.floor(this.fraction() * of.length)]
    if (found === undefined) throw new Error('nothing to pick from')
    return found
  }
}
