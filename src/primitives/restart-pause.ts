/**
 * How long a process that ended stays down before it is started again. The total time after each pause is
 * 0.2 s, 0.7 s, 1.7 s, 3.7 s and 8.7 s; then each pause is 10 s. That is slow enough that a process that can
 * not start does not fill the log.
 */
const pausesMs = [200, 500, 1_000, 2_000, 5_000] as const
const longestPauseMs = 10_000
/** The first end of a process that has run for this long before it counts as the first again. */
const soundAfterMs = 30_000

export interface EndsInRow {
  /** The number of ends in a row, with this one. */
  readonly ends: number
  readonly pauseMs: number
}

/** With `firstAtOnce` there is no pause after the first end. The other pauses follow one end later. */
export function nextPause(
  previous: EndsInRow | undefined,
  uptimeMs: number,
  { firstAtOnce = false }: { readonly firstAtOnce?: boolean } = {},
): EndsInRow {
  const before = previous && uptimeMs < soundAfterMs ? previous.ends : 0
  const pauses = firstAtOnce ? [0, ...pausesMs] : pausesMs
  return { ends: before + 1, pauseMs: pauses[before] ?? longestPauseMs }
}
