/**
 * How long a part that crashed stays down. The total time after each delay is 0.2 s, 0.7 s, 1.7 s, 3.7 s and
 * 8.7 s; then each delay is 10 s. That is quick enough that a single crash is hardly noticed, and slow
 * enough that a part that can not start does not fill the log.
 */
const delaysMs = [200, 500, 1_000, 2_000, 5_000] as const
const longestDelayMs = 10_000

/** A part that has run for this long before it crashes gets the first delay again. */
const soundAfterMs = 30_000

export interface CrashRecord {
  /** The number of crashes in a row, with this one. */
  readonly crashes: number
  readonly delayMs: number
}

export function nextRestart(previous: CrashRecord | undefined, uptimeMs: number): CrashRecord {
  const before = previous && uptimeMs < soundAfterMs ? previous.crashes : 0
  return { crashes: before + 1, delayMs: delaysMs[before] ?? longestDelayMs }
}
