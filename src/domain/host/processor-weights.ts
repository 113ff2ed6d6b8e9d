/** Whoever keeps less of a processor busy counts as idle. */
const idleBelow = 0.02
const least = 1 / 8
/** How much the latest look counts beside all looks before it. */
const latestCounts = 0.3

/** How many processors a user keeps busy in the mean of late: some 6 s, with a look every 2 s. */
export function meanBusy(mean: number, latest: number): number {
  return (1 - latestCounts) * mean + latestCounts * latest
}

/**
 * What each user weighs where several want more of the processors than there is: 1, and less, down to an
 * eighth, for who has lately had more than an equal part for each who is not idle. Such a user took what
 * others left over; when they want it back, they come first. Users who all want everything all come to weigh
 * 1, because each of them then has its part.
 */
export function processorWeights(
  busy: ReadonlyMap<string, number>,
  processors: number,
): ReadonlyMap<string, number> {
  const active = [...busy.values()].filter((one) => one >= idleBelow).length
  const part = processors / Math.max(2, active)
  return new Map([...busy].map(([user, one]) => [user, Math.max(least, Math.min(1, (part / one) ** 3))]))
}
