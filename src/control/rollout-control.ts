import type { RolloutSettings } from '../domain/rollout/settings.ts'

/**
 * The calls that the rest of Roost makes to the workflow of a rollout. Every call ends within
 * `callDeadlineMs` and throws `ControlUnavailable` if Temporal did not answer in time.
 */
export interface RolloutControl {
  /** Starts the workflow. Idempotent: one that runs, or that is over, is left alone. The sweep repeats it. */
  ensureStarted(settings: RolloutSettings): Promise<void>
  /** Has the workflow look at its row now. If the call is lost, the workflow looks within half a minute. */
  lookAgain(rolloutUuid: string): Promise<void>
}
