import { refusalWords } from '../../src/db/autoscale/clone-insert.ts'
import { writeAsked } from '../../src/db/instance/asked-event.ts'
import { findInstances, releaseLive, reserveLive } from '../../src/db/instance/instances.ts'
import type { InstanceRow } from '../../src/db/instance/row.ts'
import { workflowSettings } from '../../src/db/instance/settings.ts'
import { runAsker } from '../../src/db/schedule/runs.ts'
import type { RunEnd, RunRow } from '../../src/db/schedule/runs.ts'
import type { ScheduleRow } from '../../src/db/schedule/row.ts'
import { UserEventKind } from '../../src/domain/event/user-event-kind.ts'
import { InstanceGone } from '../../src/domain/instance/instance-gone.ts'
import { ScheduleActionType } from '../../src/domain/schedule/action.ts'
import type { StartAction, StopAction } from '../../src/domain/schedule/action.ts'
import { RunResult } from '../../src/domain/schedule/run.ts'
import type { ScheduleRunDeps } from './run-deps.ts'

interface Run {
  readonly schedule: ScheduleRow
  readonly run: RunRow
}

/**
 * Starts or stops the instances that the action names. What one of them lacks does not keep the others. The
 * requests are numbered after the run, so a repeated attempt asks for nothing twice.
 */
export async function orderInstances(
  deps: ScheduleRunDeps,
  { schedule, run }: Run,
  action: StartAction | StopAction,
): Promise<RunEnd> {
  const names = action.instances.map((name) => ({ name }))
  const reach = { userUuid: schedule.userUuid, services: null }
  const rows = await findInstances(deps.database, reach, names)
  const troubles: string[] = []
  for (const [index, name] of action.instances.entries()) {
    const row = rows[index]
    const trouble =
      row === undefined ? 'there is no such instance' : await order(deps, { schedule, run }, { action, row })
    if (trouble !== undefined) troubles.push(`${name}: ${trouble}`)
  }
  if (troubles.length > 0) return { result: RunResult.Failed, reason: troubles.join('; ') }
  const done = action.type === ScheduleActionType.Start ? 'asked to start' : 'asked to stop'
  return { result: RunResult.Succeeded, reason: `${done}: ${action.instances.join(', ')}` }
}

/** Asks for the start or stop of one instance. Returns why that is not possible, if it is not. */
async function order(
  deps: ScheduleRunDeps,
  { schedule, run }: Run,
  { action, row }: { readonly action: StartAction | StopAction; readonly row: InstanceRow },
): Promise<string | undefined> {
  const asker = runAsker(schedule)
  const settings = workflowSettings(row)
  const requestId = `${run.uuid}/${row.uuid}`
  const isStart = action.type === ScheduleActionType.Start
  if (isStart) {
    const reserved = await reserveLive(deps.database, row.userUuid, row.uuid)
    if (!reserved.ok) return refusalWords(reserved.refusal)
  }
  try {
    if (isStart) await deps.instances.start(settings, requestId, asker)
    else {
      const request = { force: false, drainTimeoutMs: action.drainMs, asker }
      await deps.instances.stop(settings, request, requestId)
    }
  } catch (error) {
    if (isStart) await releaseLive(deps.database, row.uuid)
    if (error instanceof InstanceGone) return 'it is being deleted'
    throw error
  }
  const kind = isStart ? UserEventKind.InstanceStart : UserEventKind.InstanceStop
  const why = `schedule ${schedule.name} asked for it`
  await writeAsked(deps.database, row, { kind, why, asker })
  return undefined
}
