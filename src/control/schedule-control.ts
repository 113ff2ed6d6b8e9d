import type { ScheduleSettings } from '../domain/schedule/settings.ts'

/**
 * The calls that the rest of Roost makes to Temporal's schedule of a user's schedule. Each call ends within
 * `callDeadlineMs`, and throws `ControlUnavailable` if Temporal did not answer in time.
 */
export interface ScheduleControl {
  /**
   * Makes Temporal's schedule, or brings it up to date. Idempotent. A schedule that has the same or a later
   * version is left alone.
   */
  apply(settings: ScheduleSettings): Promise<void>
  /**
   * Has a run begin now, unless the overlap policy leaves it out. Temporal's schedule is made first if it
   * is not there. The call does not wait for the run.
   */
  trigger(settings: ScheduleSettings): Promise<void>
  /** Deletes Temporal's schedule. Runs that are under way go on. Idempotent. */
  delete(scheduleUuid: string): Promise<void>
}
