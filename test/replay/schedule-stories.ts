import { randomUUID } from 'node:crypto'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import type { ScheduleActivities } from '../../activities/schedule/activities.ts'
import { controlTaskQueue } from '../../src/domain/instance/host-work.ts'
import type { ScheduleRunInput } from '../../src/domain/schedule/settings.ts'
import { scheduleRunId, scheduleRunType } from '../../workflows/schedule/messages.ts'
import { runWorkers } from '../support/temporal.ts'
import type { Lived, Story } from './story.ts'

/** Plays one run of a schedule. The answers of its calls come in turn; the last one is repeated. */
function story(waits: readonly (number | undefined)[], options: { readonly isCancelled?: true } = {}): Story {
  return async (env): Promise<Lived> => {
    let calls = 0
    const next = async () => {
      const waitMs = waits[Math.min(calls, waits.length - 1)]
      calls += 1
      return waitMs === undefined ? {} : { waitMs }
    }
    const control: ScheduleActivities = {
      beginScheduledRun: next,
      continueScheduledRun: next,
      cancelScheduledRun: async () => undefined,
    }
    const workers = await runWorkers(env, { control })
    const id = await run(env, options)
    return { id, end: () => workers.stop() }
  }
}

async function run(
  env: TestWorkflowEnvironment,
  { isCancelled }: { readonly isCancelled?: true },
): Promise<string> {
  const input: ScheduleRunInput = { scheduleUuid: randomUUID() }
  const workflowId = scheduleRunId(input.scheduleUuid)
  const options = { workflowId, taskQueue: controlTaskQueue, args: [input] }
  const handle = await env.client.workflow.start(scheduleRunType, options)
  if (isCancelled) await handle.cancel()
  await handle.result()
  return workflowId
}

const longMs = 600_000

/** The runs of schedules that are recorded. */
export const scheduleStories: Readonly<Record<string, Story>> = {
  'schedule-run-done-at-once': story([undefined]),
  'schedule-run-to-its-end': story([10, 20, 30, undefined]),
  'schedule-run-cancelled': story([longMs], { isCancelled: true }),
}
