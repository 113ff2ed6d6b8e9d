/**
 * Milliseconds of the machine's clock that only goes forward: unlike the wall clock nobody sets it, and
 * unlike `performance.now()` it goes on when an agent is started again.
 */
export function machineClockMs(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000
}
