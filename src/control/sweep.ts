import { ControlUnavailable } from './control-unavailable.ts'
import type { SweepBounds } from '../db/workflow-rows.ts'
import { ResendSchedule } from './resend-schedule.ts'
import type { SweptEntity, SweptRow } from './swept-entity.ts'

/**
 * How old a row must be before the sweep takes it. The process that creates or deletes an object tells its
 * workflow right after the commit. The sweep tells the workflow if that process could not.
 */
export const leftAloneMs = 2_000
export const sweepIntervalMs = 2_000
/**
 * The most unstarted rows, and the most deleted rows, of each entity in one sweep. The oldest come first. A
 * few seconds can not leave so many.
 */
const batchSize = 1_000
/** The most calls to Temporal at a time. A backlog must not crowd out users. */
const callsAtOnce = 8

export interface SweepDeps {
  readonly entities: readonly SweptEntity[]
  readonly nowMs: () => number
  readonly olderThanMs?: number
  readonly batchSize?: number
}

export interface SweepResult {
  readonly started: number
  readonly deletesSent: number
  /** The failure of the first call that failed. Later sweeps repeat all calls that failed. */
  readonly failure?: unknown
}

/**
 * Returns a function that sweeps once: it starts the workflows that were not started, and tells workflows
 * again of a deletion that they may not have heard of.
 */
export function createSweep(deps: SweepDeps): () => Promise<SweepResult> {
  const bounds = { olderThanMs: deps.olderThanMs ?? leftAloneMs, limit: deps.batchSize ?? batchSize }
  const sweeps = deps.entities.map((entity) => sweepOf(entity, { bounds, nowMs: deps.nowMs }))

  return async () => {
    let result: SweepResult = { started: 0, deletesSent: 0, failure: undefined }
    for (const sweep of sweeps) {
      const { started, deletesSent, failure } = await sweep()
      result = {
        started: result.started + started,
        deletesSent: result.deletesSent + deletesSent,
        failure: result.failure ?? failure,
      }
    }
    return result
  }
}

function sweepOf(
  entity: SweptEntity,
  { bounds, nowMs }: { readonly bounds: SweepBounds; readonly nowMs: () => number },
): () => Promise<SweepResult> {
  const resends = new ResendSchedule()
  return async () => {
    const deleted = resends.due(await entity.deleted(bounds), ({ uuid }) => uuid, nowMs())
    const deletes = await eachOf(deleted, (row) => row.delete())
    for (const uuid of deletes.done) resends.sent(uuid, nowMs())
    const starts = await eachOf(await entity.unstarted(bounds), (row) => row.start())
    const begun = [...starts.done, ...deletes.done]
    if (begun.length > 0) await entity.markStarted(begun)
    return {
      started: starts.done.length,
      deletesSent: deletes.done.length,
      failure: deletes.failure ?? starts.failure,
    }
  }
}

interface Outcome {
  /** The UUIDs of the rows for which the call succeeded. */
  readonly done: string[]
  failure?: unknown
}

/**
 * Calls for each row. If Temporal does not answer, the rest is left to the next sweep. Any other failure of
 * one row does not stop the others.
 */
async function eachOf(rows: readonly SweptRow[], call: (row: SweptRow) => Promise<void>): Promise<Outcome> {
  const outcome: Outcome = { done: [] }
  const rest = [...rows]
  let away = false
  const lane = async (): Promise<void> => {
    for (let one = rest.shift(); one !== undefined && !away; one = rest.shift()) {
      try {
        await call(one)
        outcome.done.push(one.uuid)
      } catch (failure) {
        outcome.failure ??= failure
        away ||= failure instanceof ControlUnavailable
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(callsAtOnce, rest.length) }, lane))
  return outcome
}
