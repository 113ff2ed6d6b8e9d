import { ApplicationFailure, Context, log } from '@temporalio/activity'
import { CancelledFailure } from '@temporalio/common'

/** Often enough for a heartbeat timeout of a few seconds; the SDK sends only as many as that timeout needs. */
const heartbeatEveryMs = 1_000

/**
 * Heartbeats while the work goes on; its signal is aborted when the workflow calls it off or the worker stops. What is thrown but a
 * cancellation is trouble of the installation's own: its words go to the log, and stay out of the history.
 */
export async function withHeartbeat<T>(what: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const context = Context.current()
  const beat = setInterval(() => context.heartbeat(), heartbeatEveryMs)
  try {
    return await work(context.cancellationSignal)
  } catch (error) {
    if (error instanceof CancelledFailure) throw error
    log.warn(`the step '${what}' broke off`, { err: error })
    // Those of a database may name what was to be written.
    const type = error instanceof Error ? error.name : 'unknown'
    throw ApplicationFailure.create({ type, message: `'${what}' broke off; the worker's log says why` })
  } finally {
    clearInterval(beat)
  }
}
