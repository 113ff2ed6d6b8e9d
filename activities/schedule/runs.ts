import { findByUuids } from '../../src/db/instance/instances.ts'
import type { InstanceRow } from '../../src/db/instance/row.ts'
import { workflowSettings } from '../../src/db/instance/settings.ts'
import { beginRun, endRun, findRun, markRunStopped } from '../../src/db/schedule/runs.ts'
import type { FoundRun, RunEnd, RunRow } from '../../src/db/schedule/runs.ts'
import { InstanceGone } from '../../src/domain/instance/instance-gone.ts'
import { ScheduleActionType } from '../../src/domain/schedule/action.ts'
import { RunResult, decideRun } from '../../src/domain/schedule/run.ts'
import type { ScheduleRunKey } from '../../src/domain/schedule/settings.ts'
import { runStep } from '../control-step.ts'
import { findRollout } from '../../src/db/rollout/records.ts'
import { decideRolloutRun } from '../../src/domain/schedule/rollout.ts'
import type { RunNext, ScheduleActivities } from './activities.ts'
import { orderInstances } from './orders.ts'
import { beginRollout, recall } from './rollout.ts'
import type { ScheduleRunDeps } from './run-deps.ts'
import { makeInstance, readLogTail } from './run-instance.ts'

/** The pause before a host is asked again for the log of an instance that has ended. */
const logPauseMs = 5_000
const over: RunNext = {}

export function createScheduleActivities(deps: ScheduleRunDeps): ScheduleActivities {
  const { database } = deps
  return {
    beginScheduledRun: (key) => runStep('beginning of a scheduled run', () => begin(deps, key)),
    continueScheduledRun: (key) => runStep('look at a scheduled run', () => look(deps, key)),
    cancelScheduledRun: (key) =>
      runStep('end of a scheduled run before its time', async () => {
        const run = await findRun(database, key)
        const reason = 'it was ended before its time: the next run was due, or somebody cancelled it'
        if (run === undefined) return
        await recall(deps, run)
        await end(deps, run, failedBy(reason))
      }),
  }
}

async function begin(deps: ScheduleRunDeps, key: ScheduleRunKey): Promise<RunNext> {
  const begun = await beginRun(deps.database, key)
  if (begun === undefined) return over
  const { schedule, run } = begun
  const { action } = schedule
  if (run.result !== RunResult.Running || run.instanceUuid !== null) return look(deps, key)
  if (action.type === ScheduleActionType.Rollout) {
    const trouble = run.rolloutUuid === null ? await beginRollout(deps, begun, action) : undefined
    return trouble === undefined ? look(deps, key) : end(deps, run, failedBy(trouble))
  }
  if (action.type !== ScheduleActionType.Run) return end(deps, run, await orderInstances(deps, begun, action))
  const trouble = await makeInstance(deps, begun, action)
  if (trouble !== undefined) return end(deps, run, failedBy(trouble))
  return look(deps, key)
}

function failedBy(reason: string): RunEnd {
  return { result: RunResult.Failed, reason }
}

/** Does what `decideRun` says, from the rows as they are now. */
async function look(deps: ScheduleRunDeps, key: ScheduleRunKey): Promise<RunNext> {
  const run = await findRun(deps.database, key)
  if (run === undefined) return over
  // A repeated attempt may find the run ended and the instance's workflow not told; the sweep tells it.
  if (run.result !== RunResult.Running) return over
  if (run.rolloutUuid !== null) {
    const step = decideRolloutRun(await findRollout(deps.database, run.rolloutUuid))
    if (step.kind !== 'end') return { waitMs: step.kind === 'wait' ? step.ms : logPauseMs }
    const { result, reason } = step
    return end(deps, run, { result, reason })
  }
  if (run.instanceUuid === null) return over
  const [instance] = await findByUuids(deps.database, [run.instanceUuid])
  const nowMs = deps.nowMs()
  const step = decideRun(factsOf(run, instance), nowMs)
  if (step.kind === 'wait') return { waitMs: step.ms }
  if (step.kind === 'stop') {
    await stopInstance(deps, run, instance)
    return look(deps, key)
  }
  const logTail = instance === undefined ? '' : await readLogTail(deps, instance)
  if (logTail === undefined) return { waitMs: logPauseMs }
  const { result, reason } = step
  const { exitCode = null, stopReason = null } = instance ?? {}
  return end(deps, run, { result, reason, exitCode, stopReason, logTail })
}

function factsOf(run: RunRow, instance: InstanceRow | undefined) {
  return {
    startedAtMs: run.startedAt.getTime(),
    timeoutMs: run.timeoutMs,
    ...(run.stopAskedAt !== null && { stopAskedAtMs: run.stopAskedAt.getTime() }),
    ...(instance && { instance: seenInstance(instance) }),
  }
}

function seenInstance({ state, exitCode, failure }: InstanceRow) {
  return { state, ...(exitCode !== null && { exitCode }), ...(failure !== null && { failure }) }
}

async function stopInstance(
  { database, instances }: ScheduleRunDeps,
  run: FoundRun,
  instance: InstanceRow | undefined,
): Promise<void> {
  if (instance !== undefined) {
    const request = { force: false, drainTimeoutMs: 0, asker: run.asker }
    try {
      await instances.stop(workflowSettings(instance), request, `${run.uuid}/over`)
    } catch (error) {
      if (!(error instanceof InstanceGone)) throw error
    }
  }
  await markRunStopped(database, run.uuid)
}

/**
 * Writes the result, and has the workflow of the instance delete it. The sweep repeats what is not reached.
 */
async function end(
  { database, instances, bounds }: ScheduleRunDeps,
  run: RunRow,
  how: RunEnd,
): Promise<RunNext> {
  const instance = await endRun(database, run, { end: how, keptRuns: bounds.keptRuns })
  if (instance !== undefined) await instances.delete(workflowSettings(instance))
  return over
}
