import { CancellationScope, continueAsNew, isCancellation, sleep, workflowInfo } from '@temporalio/workflow'
import type { ScheduleRunInput, ScheduleRunKey } from '../../src/domain/schedule/settings.ts'
import { runCalls } from './calls.ts'

/**
 * One run of a schedule: does its action, and looks after an instance that the action made until it has
 * ended. The row of the run has everything else, so a workflow that continues as new needs only the same
 * input.
 *
 * It succeeds also if the run fails for a reason of its user. If it is cancelled, because the next run is
 * due and the schedule says so, the run has failed, and its instance is deleted.
 */
export async function scheduleRun(input: ScheduleRunInput): Promise<void> {
  const run = runKeyOf(input)
  try {
    // Calls are not broken off: what a call began would be found by nobody.
    let next = await shielded(() => runCalls.beginScheduledRun(run))
    while (next.waitMs !== undefined) {
      await sleep(next.waitMs)
      if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof scheduleRun>(input)
      next = await shielded(() => runCalls.continueScheduledRun(run))
    }
  } catch (error) {
    if (!isCancellation(error)) throw error
    await shielded(() => runCalls.cancelScheduledRun(run))
  }
}

function shielded<T>(call: () => Promise<T>): Promise<T> {
  return CancellationScope.nonCancellable(call)
}

function runKeyOf({ scheduleUuid }: ScheduleRunInput): ScheduleRunKey {
  const { firstExecutionRunId, searchAttributes, startTime } = workflowInfo()
  // Temporal's schedules set this attribute. It is absent if a person started the workflow.
  const [due] = searchAttributes['TemporalScheduledStartTime'] ?? []
  const scheduledAtMs = due instanceof Date ? due.getTime() : startTime.getTime()
  return { scheduleUuid, runKey: firstExecutionRunId, scheduledAtMs }
}
