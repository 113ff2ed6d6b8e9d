import { Context } from '@temporalio/activity'

/**
 * The pause between heartbeats. It fits a heartbeat timeout of a few seconds; the SDK sends only as many as
 * that timeout needs.
 */
const heartbeatEveryMs = 1_000

/** Sends heartbeats of the activity while the work goes on. */
export async function withHeartbeat<T>(work: () => Promise<T>): Promise<T> {
  const context = Context.current()
  const timer = setInterval(() => context.heartbeat(), heartbeatEveryMs)
  try {
    return await work()
  } finally {
    clearInterval(timer)
  }
}
