import type { OperationEntry } from '../../contract/operation.ts'
import type { getScheduleRuns, getSchedules } from '../../contract/schedule/operations.ts'
import type { ScheduleRow, Variables } from '../../db/schedule/row.ts'
import type { RunRow } from '../../db/schedule/runs.ts'
import { parseImageReference, publicImageReference } from '../../domain/image/reference.ts'
import { ScheduleActionType } from '../../domain/schedule/action.ts'
import type { RunAction, RunVolume } from '../../domain/schedule/action.ts'
import { parseCron } from '../../domain/schedule/cron.ts'
import { nextOccurrences } from '../../domain/schedule/occurrences.ts'
import { presentRolloutAction } from './rollout-action.ts'
import { timestamp } from '../timestamp.ts'

type Details = OperationEntry<typeof getSchedules>
type Run = OperationEntry<typeof getScheduleRuns>['runs'][number]

/** How many of the next times a schedule shows. */
const shownNextRuns = 3

export interface ScheduleView {
  readonly env: Variables
  readonly lastRun: RunRow | undefined
  readonly nowMs: number
}

/** All fields of a schedule. */
export function presentSchedule(row: ScheduleRow, { env, lastRun, nowMs }: ScheduleView): Details {
  return {
    uuid: row.uuid,
    name: row.name,
    created_at: timestamp(row.createdAt),
    cron: row.cron,
    time_zone: row.timeZone,
    paused: row.paused,
    catch_up_s: row.catchUpS,
    overlap: row.overlap,
    action: presentAction(row, env),
    next_runs: nextRuns(row, nowMs, shownNextRuns).map((at) => timestamp(new Date(at))),
    ...(lastRun && { last_run: presentRun(lastRun) }),
  }
}

/** The next times at which the schedule runs by itself; none while it is paused. */
export function nextRuns(
  { cron, timeZone, paused }: Pick<ScheduleRow, 'cron' | 'timeZone' | 'paused'>,
  afterMs: number,
  count: number,
): readonly number[] {
  const read = parseCron(cron)
  return paused || !read.ok ? [] : nextOccurrences(read.cron, { timeZone, afterMs, count })
}

function presentAction({ action }: ScheduleRow, env: Variables): NonNullable<Details['action']> {
  if (action.type === ScheduleActionType.Run) return { run: presentRunAction(action, env) }
  if (action.type === ScheduleActionType.Rollout) return { rollout: presentRolloutAction(action, env) }
  const instances = [...action.instances]
  if (action.type === ScheduleActionType.Start) return { start: { instances } }
  return { stop: { instances, drain_timeout_ms: action.drainMs } }
}

function presentRunAction(action: RunAction, env: Variables) {
  const { image, args, memoryMb, vcpus, volume, timeoutMs } = action
  const reference = parseImageReference(image)
  return {
    image: reference === undefined ? image : publicImageReference(reference),
    ...(args && { args: [...args] }),
    env: { ...env },
    memory_mb: memoryMb,
    vcpus,
    volumes: volume === undefined ? [] : [presentVolume(volume)],
    timeout_s: timeoutMs / 1_000,
  }
}

function presentVolume(volume: RunVolume) {
  const which = 'made' in volume ? { size_mb: volume.made.sizeMb } : volume.existing
  return { ...which, ...volume.mount }
}

/** One run without its log. */
export function presentRun(run: RunRow): Run {
  const { uuid, instanceUuid, instanceName } = run
  return {
    uuid,
    scheduled_at: timestamp(run.scheduledAt),
    started_at: timestamp(run.startedAt),
    ...(run.endedAt && { ended_at: timestamp(run.endedAt) }),
    result: run.result,
    ...(run.reason !== null && { reason: run.reason }),
    ...(instanceUuid !== null && { instance: { uuid: instanceUuid, name: instanceName ?? '' } }),
    ...(run.exitCode !== null && { exit_code: run.exitCode }),
    ...(run.stopReason !== null && { stop_reason: run.stopReason }),
  }
}
