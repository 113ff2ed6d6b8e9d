import type { RolloutPhase } from '../../src/domain/rollout/phase.ts'

/** What the workflow of a rollout does after a call. */
export interface RolloutNext {
  /** How long to wait before the next look. Absent: the rollout is over. */
  readonly waitMs?: number
  readonly phase: RolloutPhase
  /** What is awaited, for people. */
  readonly now: string
  /** What this call did, in words without secrets. */
  readonly done: readonly string[]
}

/**
 * The calls of a rollout's workflow. They read from the rows what is to be done, so neither their inputs nor
 * their answers hold a secret.
 */
export interface RolloutActivities {
  /** Looks at the rollout and makes all moves that are due. Idempotent. */
  continueRollout(rolloutUuid: string): Promise<RolloutNext>
}
