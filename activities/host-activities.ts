import { ApplicationFailure, Context } from '@temporalio/activity'
import { CancelledFailure } from '@temporalio/common'
import type { HostActivities, VolumeActivities } from '../src/domain/instance/host-work.ts'
import type { HostAgent } from '../src/host/agent/host-agent.ts'
import type { HostVolumes } from '../src/host/volumes/host-volumes.ts'
import { asHostStartError } from '../src/host/instance/host-start-error.ts'

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
    async standByInstance(input) {
      return await attended({ work: async () => await agent.standBy(input) })
    },
    async drainInstance(input) {
      await attended({
        work: async () => {
          await agent.drain(input)
        },
        onCancelRequest: async () => {
          agent.undrain(input)
          await Promise.resolve()
        },
      })
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

/** As above, of volumes: work that its workflow calls off ends before the activity does. */
export function createVolumeActivities(deps: { readonly volumes: HostVolumes }): VolumeActivities {
  const { volumes } = deps
  return {
    async makeVolume({ volumeUuid, sizeMb }) {
      await revocable(async (signal) => {
        await volumes.make({ uuid: volumeUuid, sizeMb }, signal)
      })
    },
    async repairVolume({ volumeUuid }) {
      await revocable(async (signal) => {
        await volumes.repair(volumeUuid, signal)
      })
    },
    async removeVolume({ volumeUuid }) {
      await revocable(async (signal) => {
        await volumes.remove(volumeUuid, signal)
      })
    },
  }
}

async function revocable(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const controller = new AbortController()
  const done = Promise.withResolvers<undefined>()
  await attended({
    work: async () => {
      await work(controller.signal).finally(() => {
        done.resolve(undefined)
      })
    },
    onCancelRequest: async () => {
      controller.abort()
      await done.promise
    },
  })
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
