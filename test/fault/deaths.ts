/** One death, and the life after it. */
export interface Death {
  readonly name: string
  readonly live: () => Promise<void>
}

/**
 * Runs the deaths, `atOnce` at the same time, because each of them waits for a timeout. The outcome of each
 * stands under its name.
 */
export function dieBesideEachOther(
  deaths: readonly Death[],
  atOnce: number,
): ReadonlyMap<string, Promise<void>> {
  const outcomes = new Map<string, Promise<void>>()
  const rest = deaths.map(({ name, live }) => {
    const outcome = Promise.withResolvers<void>()
    outcome.promise.catch(() => undefined)
    outcomes.set(name, outcome.promise)
    return async () => live().then(outcome.resolve, outcome.reject)
  })
  const lane = async (): Promise<void> => {
    for (let one = rest.shift(); one !== undefined; one = rest.shift()) await one()
  }
  void Promise.all(Array.from({ length: atOnce }, lane))
  return outcomes
}
