import { findInstances } from '../../src/db/instance/instances.ts'
import type { InstanceRow } from '../../src/db/instance/row.ts'
import { runAsker } from '../../src/db/schedule/runs.ts'
import type { RunEnd, RunRow } from '../../src/db/schedule/runs.ts'
import type { ScheduleRow } from '../../src/db/schedule/row.ts'
import { ScheduleActionType } from '../../src/domain/schedule/action.ts'
import type { StartAction, StopAction } from '../../src/domain/schedule/action.ts'
import { RunResult } from '../../src/domain/schedule/run.ts'
import { orderInstance } from '../instance-orders.ts'
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
  const isStart = action.type === ScheduleActionType.Start
  const asked = await orderInstance(deps, row, {
    kind: isStart ? 'start' : 'stop',
    drainMs: isStart ? 0 : action.drainMs,
    requestId: `${run.uuid}/${row.uuid}`,
    asker,
    why: `schedule ${schedule.name} asked for it`,
  })
  if (asked.kind === 'gone') return 'it is being deleted'
  return asked.kind === 'refused' ? asked.why : undefined
}
