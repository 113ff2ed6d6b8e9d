/** One death, and the life after it. */
export interface Death {
  readonly name: string
  readonly live: () => Promise<void>
}

/**
 * Every death waits for a timeout, so `atOnce` of them are died beside each other. What came of each is under
 * its name.
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
