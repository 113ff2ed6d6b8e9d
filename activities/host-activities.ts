import { ApplicationFailure, Context } from '@temporalio/activity'
import { CancelledFailure } from '@temporalio/common'
import type { HostActivities } from '../src/domain/host-work.ts'
import type { HostAgent } from '../src/host/agent/host-agent.ts'
import { asHostStartError } from '../src/host/agent/host-start-error.ts'

/** Often enough for a heartbeat timeout of a few seconds; the SDK sends only as many as that timeout needs. */
const heartbeatEveryMs = 1_000

/**
 * The task queue `node-<id>`. The agent's own calls are idempotent and go on without these activities; an activity that is cut
 * off by anything but its workflow (a lost heartbeat, a restart of the worker) leaves the work to the next attempt.
 */
export function createHostActivities(deps: { readonly agent: HostAgent }): HostActivities {
  const { agent } = deps
  return {
    async startInstance(input) {
      return await attended({
        work: async () => await agent.start(input),
        onCancelRequest: async () => {
          await agent.abandon(input)
        },
      })
    },
    async stopInstance(input) {
      return await attended({ work: async () => await agent.stop(input) })
    },
    async removeInstance(input) {
      await attended({
        work: async () => {
          await agent.remove(input)
        },
      })
    },
  }
}

/** Heartbeats while the work goes on, and ends with it or with the activity's cancellation, whichever comes first. */
async function attended<T>(options: {
  readonly work: () => Promise<T>
  readonly onCancelRequest?: () => Promise<void>
}): Promise<T> {
  const context = Context.current()
  const beat = setInterval(() => {
    context.heartbeat()
  }, heartbeatEveryMs)
  try {
    const work = options.work()
    // Where the cancellation wins, the work's own failure has no reader.
    work.catch(() => undefined)
    return await Promise.race([work, context.cancelled])
  } catch (error) {
    if (!(error instanceof CancelledFailure)) throw asApplicationFailure(error)
    if (context.cancellationDetails?.cancelRequested === true) await options.onCancelRequest?.()
    throw error
  } finally {
    clearInterval(beat)
  }
}

function asApplicationFailure(error: unknown): ApplicationFailure {
  const failure = asHostStartError(error)
  return ApplicationFailure.create({
    type: failure.failure,
    message: failure.message,
    nonRetryable: failure.final,
  })
}
