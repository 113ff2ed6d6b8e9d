import { RestartPolicy } from './restart-policy.ts'
import { StopBit } from './stop-reason.ts'
import { stopCodeReason, StopCodeReason } from './stop-code.ts'
import type { StopOutcome } from './stop-reason.ts'

/** A run that lasts this long ends the restart sequence: the next crash begins a new one. */
export const problemFreeMs = 10_000

/**
 * The wait before the next restart, by the number of restarts that the sequence already has. The time beside
 * each wait is for an instance that crashes at once every time: it counts from the first crash to that
 * restart.
 */
const backOffMs = [
  0, //       at once
  5_000, //   0:05
  10_000, //  0:15
  20_000, //  0:35
  40_000, //  1:15
  80_000, //  2:35
  160_000, // 5:15
  300_000, // 10:15, and from then on every five minutes
] as const

export const longestBackOffMs = 300_000

export function restartDelayMs(attempt: number): number {
  return backOffMs[attempt] ?? longestBackOffMs
}

/**
 * Whether a policy starts an instance again after a run that ended in this way. Only an end that came from
 * within counts: after a stop that the user or the platform asked for, no policy restarts.
 */
export function restartsAfter(policy: RestartPolicy, outcome: StopOutcome): boolean {
  if ((outcome.stopReason & StopBit.Platform) !== 0) return false
  return policy === RestartPolicy.Always || (policy === RestartPolicy.OnFailure && !endedWell(outcome))
}

function endedWell(outcome: StopOutcome): boolean {
  return outcome.exitCode === 0 && stopCodeReason(outcome.stopCode ?? 0) === StopCodeReason.Ok
}
