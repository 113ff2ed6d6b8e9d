/**
 * How long a part that crashed stays down. The elapsed time after each: 0.2 s, 0.7 s, 1.7 s, 3.7 s, 8.7 s,
 * then every 10 s: quick enough that a single crash is hardly noticed, slow enough that a part that can not
 * start does not fill the log.
 */
const delaysMs = [200, 500, 1_000, 2_000, 5_000] as const
const longestDelayMs = 10_000

/** A part that stayed up for this long has earned a fresh start of the table. */
const soundAfterMs = 30_000

export interface CrashRecord {
  /** Crashes in a row, this one included. */
  readonly crashes: number
  readonly delayMs: number
}

export function nextRestart(previous: CrashRecord | undefined, uptimeMs: number): CrashRecord {
  const before = previous && uptimeMs < soundAfterMs ? previous.crashes : 0
  return { crashes: before + 1, delayMs: delaysMs[before] ?? longestDelayMs }
}
