/** Lets at most `size` pieces of work run at once; the others wait in the order in which they came. */
export class Slots {
  #free: number
  readonly #countsForMs: number | undefined
  readonly #waiting: (() => void)[] = []

  /** Work that takes longer than `countsForMs` goes on beside the next. Absent: it keeps its place to its end. */
  constructor(size: number, countsForMs?: number) {
    this.#free = size
    this.#countsForMs = countsForMs
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#free > 0) this.#free -= 1
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    let counts = true
    const giveBack = (): void => {
      if (!counts) return
      counts = false
      const next = this.#waiting.shift()
      if (next === undefined) this.#free += 1
      else next()
    }
    const limit = this.#countsForMs === undefined ? undefined : setTimeout(giveBack, this.#countsForMs)
    limit?.unref()
    try {
      return await work()
    } finally {
      clearTimeout(limit)
      giveBack()
    }
  }
}
