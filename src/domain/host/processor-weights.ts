/** The share of one processor below which a user counts as idle. */
const idleBelow = 0.02
const least = 1 / 8
/** The weight of the latest look in the mean; all earlier looks have the rest. */
const latestCounts = 0.3

/**
 * The new mean of how many processors a user keeps busy. It reaches back about 6 s, with a look every 2 s.
 */
export function meanBusy(mean: number, latest: number): number {
  return (1 - latestCounts) * mean + latestCounts * latest
}

/**
 * The weight of each user when users want more of the processors than there is. An equal part is that of all
 * users who are not idle. A user who lately had more than an equal part weighs less than 1, down to an
 * eighth: that user took what others left over, and when they want it back they come first. Users who all
 * want everything all come to weigh 1, because each of them then has an equal part.
 */
export function processorWeights(
  busy: ReadonlyMap<string, number>,
  processors: number,
): ReadonlyMap<string, number> {
  const active = [...busy.values()].filter((one) => one >= idleBelow).length
  const part = processors / Math.max(2, active)
  return new Map([...busy].map(([user, one]) => [user, Math.max(least, Math.min(1, (part / one) ** 3))]))
}
