import type { Database } from '../db/database.ts'
import { findDeletedRows, findUnstarted, markWorkflowStarted } from '../db/sweep.ts'
import type { InstanceSettings } from '../domain/instance-settings.ts'
import { ControlUnavailable } from './instance-control.ts'
import type { InstanceControl } from './instance-control.ts'
import { ResendSchedule } from './resend-schedule.ts'

/** Who creates or deletes an instance tells its workflow himself, right after the commit; the sweep is for those who could not. */
export const leftAloneMs = 2_000
export const sweepIntervalMs = 2_000
/** Rows of each kind in one sweep, the oldest first. More than any backlog that a few seconds can leave. */
const batchSize = 1_000
/** Calls to Temporal at a time: a backlog must not crowd out users. */
const callsAtOnce = 8

export interface SweepDeps {
  readonly database: Database
  readonly control: InstanceControl
  readonly nowMs: () => number
  readonly olderThanMs?: number
  readonly batchSize?: number
}

export interface SweepResult {
  readonly started: number
  readonly deletesSent: number
  /** The first of the calls that failed; later sweeps repeat them all. */
  readonly failure?: unknown
}

/** Brings the workflows in line with the rows: starts what is missing, repeats what may not have been heard. */
export function createSweep(deps: SweepDeps): () => Promise<SweepResult> {
  const { database, control } = deps
  const bounds = { olderThanMs: deps.olderThanMs ?? leftAloneMs, limit: deps.batchSize ?? batchSize }
  const resends = new ResendSchedule()

  return async () => {
    const deleted = resends.due(
      await findDeletedRows(database, bounds),
      (one) => one.instanceUuid,
      deps.nowMs(),
    )
    const deletes = await eachOf(deleted, (one) => control.delete(one))
    for (const one of deletes.done) resends.sent(one.instanceUuid, deps.nowMs())
    const starts = await eachOf(await findUnstarted(database, bounds), (one) => control.ensureStarted(one))
    const begun = [...starts.done, ...deletes.done].map((one) => one.instanceUuid)
    if (begun.length > 0) await markWorkflowStarted(database, begun)
    return {
      started: starts.done.length,
      deletesSent: deletes.done.length,
      failure: deletes.failure ?? starts.failure,
    }
  }
}

interface Outcome {
  readonly done: InstanceSettings[]
  failure?: unknown
}

/** Where nobody answers, the rest is left to the next sweep. A failure of one instance's own stops no other. */
async function eachOf(
  instances: readonly InstanceSettings[],
  call: (one: InstanceSettings) => Promise<void>,
): Promise<Outcome> {
  const outcome: Outcome = { done: [] }
  const rest = [...instances]
  let away = false
  const lane = async (): Promise<void> => {
    for (let one = rest.shift(); one !== undefined && !away; one = rest.shift()) {
      try {
        await call(one)
        outcome.done.push(one)
      } catch (failure) {
        outcome.failure ??= failure
        away ||= failure instanceof ControlUnavailable
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(callsAtOnce, rest.length) }, lane))
  return outcome
}
