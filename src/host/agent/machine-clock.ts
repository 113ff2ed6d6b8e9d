/**
 * Milliseconds of the machine's monotonic clock. Unlike the wall clock, nobody can set it. Unlike
 * `performance.now()`, it does not begin again when a new agent starts.
 */
export function machineClockMs(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000
}
