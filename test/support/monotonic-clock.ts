import process from 'node:process'

const nsPerMs = 1_000_000

/** CLOCK_MONOTONIC in milliseconds. It is the same for all processes of a machine, in whatever namespace. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / nsPerMs
}
