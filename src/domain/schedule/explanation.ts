import type { Explanation } from '../instance/explanation.ts'
import { timeOf } from '../instance/words.ts'
import { actionInWords } from './action.ts'
import type { ScheduleAction } from './action.ts'
import { OverlapPolicy } from './overlap.ts'
import { RunResult } from './run.ts'

/** What the database holds of a schedule and of its newest run. */
export interface ExplainedSchedule {
  readonly name: string
  readonly cron: string
  readonly timeZone: string
  readonly paused: boolean
  readonly action: ScheduleAction
  readonly overlap: OverlapPolicy
  /** Whether Temporal's schedule has the last change. */
  readonly isTold: boolean
  /** The next time of the calendar, also if the schedule is paused. */
  readonly nextAtMs?: number
  readonly lastRun?: {
    readonly result: RunResult
    readonly startedAtMs: number
    readonly endedAtMs?: number
    readonly reason?: string
  }
}

/** Tells people what a schedule does, what its last run did, and when it runs next. */
export function explainSchedule(schedule: ExplainedSchedule): Explanation {
  const { name, cron, timeZone, paused, action, isTold, lastRun } = schedule
  const what = `${name} ${actionInWords(action)} at '${cron}' in ${timeZone}`
  const failed = lastRun?.result === RunResult.Failed ? lastRun.reason : undefined
  return {
    now: `${what}${paused ? ', and is paused' : ''}; ${lastRunInWords(lastRun)}.`,
    next: isTold
      ? nextInWords(schedule)
      : 'the sweep makes its last change known to Temporal, which starts its runs',
    ...(failed === undefined ? {} : { failure: failed }),
  }
}

function lastRunInWords(run: ExplainedSchedule['lastRun']): string {
  if (run === undefined) return 'it has not run yet'
  if (run.result === RunResult.Running) return `a run is under way since ${timeOf(run.startedAtMs)}`
  return `its last run ${run.result} at ${timeOf(run.endedAtMs)}`
}

function nextInWords({ paused, nextAtMs, overlap, lastRun }: ExplainedSchedule): string {
  if (paused) return 'nothing by itself, until it is resumed; it can be run by hand'
  const due = `it runs at ${timeOf(nextAtMs)}`
  return lastRun?.result === RunResult.Running ? `${due}${ifUnderWay[overlap]}` : due
}

const ifUnderWay = {
  [OverlapPolicy.Skip]: ', unless this run is still under way then',
  [OverlapPolicy.Queue]: ', or when this run has ended, if that is later',
  [OverlapPolicy.Allow]: ', also if this run is still under way',
  [OverlapPolicy.Cancel]: ', and ends this run if it is still under way',
} satisfies Record<OverlapPolicy, string>
