/**
 * How long the place of a serving process that ended stays empty. The first time it is filled at once,
 * because the other processes only have its load meanwhile. A process that keeps ending has a defect that a
 * quick restart does not mend: the total time after each pause is 0 s, 0.2 s, 0.7 s, 1.7 s, 3.7 s and 8.7 s;
 * then each pause is 10 s.
 */
const pausesMs = [0, 200, 500, 1_000, 2_000, 5_000] as const
const longestPauseMs = 10_000
/** A process that has served for this long before it ended is replaced at once again. */
const soundAfterMs = 30_000

export interface ServingEnds {
  /** The number of ends in a row, with this one. */
  readonly ends: number
  readonly pauseMs: number
}

export function nextServing(previous: ServingEnds | undefined, servedMs: number): ServingEnds {
  const before = previous && servedMs < soundAfterMs ? previous.ends : 0
  return { ends: before + 1, pauseMs: pausesMs[before] ?? longestPauseMs }
}
