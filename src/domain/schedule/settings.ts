import type { OverlapPolicy } from './overlap.ts'

/**
 * What Temporal's schedule is made from. It names no action: a run reads that from the row, so it never
 * reaches Temporal.
 */
export interface ScheduleSettings {
  readonly scheduleUuid: string
  readonly name: string
  readonly userUuid: string
  readonly cron: string
  readonly timeZone: string
  readonly paused: boolean
  readonly catchUpS: number
  readonly overlap: OverlapPolicy
  /** Grows with every change of the above. */
  readonly version: number
}

/** The input of the workflow of one run. */
export interface ScheduleRunInput {
  readonly scheduleUuid: string
}

/** One run in the calls of its workflow. */
export interface ScheduleRunKey extends ScheduleRunInput {
  /** The same in all attempts, and in all parts of a workflow that continued as new. */
  readonly runKey: string
  readonly scheduledAtMs: number
}
