/** Runs one piece of work when it is its turn: so many at once, the others in the order in which they came. */
export type TakeTurn = <T>(work: () => Promise<T>) => Promise<T>

export function createTurns(atOnce: number): TakeTurn {
  const waiting: (() => void)[] = []
  let running = 0
  return async (work) => {
    if (running < atOnce) running++
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      // Who is next runs in place of this one.
      if (next === undefined) running--
      else next()
    }
  }
}
