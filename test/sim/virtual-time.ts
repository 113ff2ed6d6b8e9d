/** Numbers from a seed, always the same ones (mulberry32). */
export class Dice {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 up to 1. */
  roll(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }

  within(fromMs: number, toMs: number): number {
    return Math.round(fromMs + this.roll() * (toMs - fromMs))
  }

  happens(share: number): boolean {
    return this.roll() < share
  }

  /** One of them. */
  pick<T>(choices: readonly T[]): T {
    return choices[Math.floor(this.roll() * choices.length)]!
  }
}

interface Due {
  readonly atMs: number
  readonly order: number
  readonly happen: () => void
}

/** Nothing waits here: the time is that of the next thing that is due. */
export class VirtualTime {
  nowMs = 1_000_000
  #order = 0
  #due: Due[] = []

  after(delayMs: number, happen: () => void): void {
    const due = { atMs: this.nowMs + Math.max(0, delayMs), order: (this.#order += 1), happen }
    const at = this.#due.findIndex((other) => other.atMs > due.atMs)
    if (at === -1) this.#due.push(due)
    else this.#due.splice(at, 0, due)
  }

  pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.after(delayMs, resolve)
    })
  }

  /** `afterEach` is called when everything that a moment brought about has come to rest. */
  async runUntil(atMs: number, afterEach: () => void): Promise<void> {
    for (let next = this.#due[0]; next !== undefined && next.atMs <= atMs; next = this.#due[0]) {
      this.#due.shift()
      this.nowMs = next.atMs
      next.happen()
      await atRest()
      afterEach()
    }
    this.nowMs = atMs
  }
}

/** Promises that are settled have told everybody by then. */
function atRest(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
