import { InstanceState } from '../instance/state.ts'

/**
 * What became of one run of a schedule.
 *
 * ```
 *            the action is done, or its instance ended with code 0
 *  running ────────────────────────────────────────────────────────► succeeded
 *     │
 *     └────────────────────────────────────────────────────────────► failed
 *            anything else; an instance that takes too long is stopped first
 * ```
 *
 * A run that the overlap policy leaves out is never begun, so there is no row and no result for it.
 */
export const RunResult = {
  Running: 'running',
  Succeeded: 'succeeded',
  Failed: 'failed',
} as const
export type RunResult = (typeof RunResult)[keyof typeof RunResult]

/** The results of runs that are over. */
export type RunVerdict = Exclude<RunResult, typeof RunResult.Running>

/** The instance of a run, as its row has it. */
export interface RunInstance {
  readonly state: InstanceState
  readonly exitCode?: number
  /** Why it did not start, or how it ended. */
  readonly failure?: string
}

/** What is known of a run that made an instance. */
export interface RunFacts {
  /** Absent: somebody deleted it. */
  readonly instance?: RunInstance
  readonly startedAtMs: number
  readonly timeoutMs: number
  /** When the run asked its instance to stop. Absent: it has not. */
  readonly stopAskedAtMs?: number
}

/** What has to be done in a run now. */
export type RunStep =
  | { readonly kind: 'wait'; readonly ms: number }
  /** The time is over: ask the instance to stop. */
  | { readonly kind: 'stop' }
  /** The run is over. */
  | { readonly kind: 'end'; readonly result: RunVerdict; readonly reason: string }

/** How long an instance may take to stop when its time is over. After that it is deleted as it is. */
export const stopPatienceMs = 60_000
/**
 * The pause between two looks at the instance is a twentieth of the time since the start, within these
 * bounds. So the end of a run is seen within 5 % of its time, and a run of a day makes 1500 looks.
 */
const leastPauseMs = 1_000
const mostPauseMs = 60_000
const looksPerTime = 20

export function decideRun(facts: RunFacts, nowMs: number): RunStep {
  const { instance, startedAtMs, timeoutMs, stopAskedAtMs } = facts
  if (instance === undefined) return failed('its instance was deleted')
  const late = `it took longer than the ${timeoutMs / 1_000} s that it may take, and was stopped`
  if (instance.state === InstanceState.Stopped)
    return stopAskedAtMs === undefined ? endOf(instance) : failed(late)
  if (stopAskedAtMs !== undefined) {
    const patience = stopAskedAtMs + stopPatienceMs - nowMs
    return patience <= 0 ? failed(late) : { kind: 'wait', ms: Math.min(leastPauseMs, patience) }
  }
  const left = startedAtMs + timeoutMs - nowMs
  if (left <= 0) return { kind: 'stop' }
  const pause = Math.max(leastPauseMs, Math.min(mostPauseMs, (nowMs - startedAtMs) / looksPerTime))
  return { kind: 'wait', ms: Math.ceil(Math.min(pause, left)) }
}

function endOf({ exitCode, failure }: RunInstance): RunStep {
  if (exitCode === 0) return { kind: 'end', result: RunResult.Succeeded, reason: 'it ended with exit code 0' }
  if (exitCode !== undefined) return failed(`it ended with exit code ${exitCode}`)
  return failed(failure ?? 'its application did not end by itself')
}

function failed(reason: string): RunStep {
  return { kind: 'end', result: RunResult.Failed, reason }
}
