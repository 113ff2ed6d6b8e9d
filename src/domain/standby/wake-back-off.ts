/**
 * How long traffic does not try to wake an instance again after the nth failure in a row. The last wait
 * applies to all further failures. A start by hand may be tried at any time.
 *
 *   failure   wait     since the first
 *   1          1 s      0 s
 *   2          2 s      1 s
 *   3          5 s      3 s
 *   4         10 s      8 s
 *   5         30 s     18 s
 *   6...      60 s     48 s
 */
const waitsMs = [1_000, 2_000, 5_000, 10_000, 30_000, 60_000] as const

export function wakeBackOffMs(failures: number): number {
  return waitsMs[Math.min(failures, waitsMs.length) - 1] ?? waitsMs[0]
}
