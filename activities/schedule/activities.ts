import type { ScheduleRunKey } from '../../src/domain/schedule/settings.ts'

/** What the workflow of a run does after a call. */
export interface RunNext {
  /** How long to wait before the next look. Absent: the run is over. */
  readonly waitMs?: number
}

/**
 * The calls of a run's workflow. All are idempotent. They read from the rows what is to be done, so neither
 * their inputs nor their answers hold a secret.
 */
export interface ScheduleActivities {
  /** Writes the run's row, and does the action. */
  beginScheduledRun(run: ScheduleRunKey): Promise<RunNext>
  /** Looks at the instance that the run made, stops it once its time is over, and ends the run after it. */
  continueScheduledRun(run: ScheduleRunKey): Promise<RunNext>
  /** Ends the run before its time. */
  cancelScheduledRun(run: ScheduleRunKey): Promise<void>
}
