import { ApplicationFailure, Context, log } from '@temporalio/activity'
import { CancelledFailure } from '@temporalio/common'
import { withHeartbeat } from './heartbeat.ts'

/**
 * Runs one step of the control plane, with heartbeats. The step's signal is aborted when the workflow calls
 * the step off or the worker stops. If the step fails for another reason, the installation itself has
 * trouble. The message of that failure goes to the log and not to the history, because a message of the
 * database may hold values that were to be written.
 */
export async function runStep<T>(what: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  try {
    return await withHeartbeat(() => work(Context.current().cancellationSignal))
  } catch (error) {
    if (error instanceof CancelledFailure) throw error
    log.warn(`the step '${what}' broke off`, { err: error })
    const type = error instanceof Error ? error.name : 'unknown'
    throw ApplicationFailure.create({ type, message: `'${what}' broke off; the worker's log says why` })
  }
}
