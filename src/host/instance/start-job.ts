import { once } from 'node:events'
import { HostFailure } from '../../domain/instance/host-work.ts'
import type { StartResult } from '../../domain/instance/host-work.ts'
import type { InstanceEntry, StartJob } from './entry.ts'
import { HostStartError } from './host-start-error.ts'

/**
 * Begins a start. From this moment on it is the entry's job, so a stop that comes next finds it. `run` brings
 * the boot up, within the instance's queue.
 */
export function beginStart(
  entry: InstanceEntry,
  asked: Pick<StartJob, 'boot' | 'byPermit' | 'early'>,
  run: (job: StartJob) => Promise<StartResult>,
): StartJob {
  const job: StartJob = {
    ...asked,
    controller: new AbortController(),
    vmAsked: false,
    result: Promise.resolve({} as StartResult),
  }
  const { signal } = job.controller
  const start = async (): Promise<StartResult> => {
    // The permit may be used before the order to stand by is quite over: the queue then has the order's last
    // step first. All other starts wait for the whole order, outside the queue, which the order needs.
    if (!job.byPermit && entry.sleep !== undefined) await Promise.race([entry.sleep, once(signal, 'abort')])
    signal.throwIfAborted()
    return await entry.queue.run(async () => {
      signal.throwIfAborted()
      if (entry.removed)
        throw new HostStartError(HostFailure.UnknownInstance, 'the instance is being removed')
      return await run(job)
    })
  }
  job.result = start().finally(() => {
    if (entry.job === job) entry.job = undefined
  })
  // It may be that no caller waits any more. A failure is for the callers, and must not end the process.
  job.result.catch(() => undefined)
  entry.job = job
  return job
}

/** Whether a start of the boot is under way that nobody has ended. */
export function isStarting({ job }: InstanceEntry, boot: number): boolean {
  return job?.boot === boot && !job.controller.signal.aborted
}

/**
 * Ends a start because of a stop. A forced stop ends the start at any time. A gentle stop ends it only
 * before there is a VM; after that the application is asked to end as in any other stop.
 */
export async function interruptStart(
  { job }: InstanceEntry,
  stop: { readonly boot: number; readonly forced: boolean },
): Promise<void> {
  if (job === undefined || job.boot > stop.boot) return
  if (stop.forced || !job.vmAsked) job.controller.abort()
  await job.result.catch(() => undefined)
}
