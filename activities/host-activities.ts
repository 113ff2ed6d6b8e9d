import { ApplicationFailure, Context } from '@temporalio/activity'
import { CancelledFailure } from '@temporalio/common'
import type { HostActivities, MoveActivities, VolumeActivities } from '../src/domain/instance/host-work.ts'
import type { HostAgent } from '../src/host/agent/host-agent.ts'
import type { InstanceMoves } from '../src/host/agent/instance-moves.ts'
import type { HostVolumes } from '../src/host/volumes/host-volumes.ts'
import { withHeartbeat } from './heartbeat.ts'
import { asHostStartError } from '../src/host/instance/host-start-error.ts'

/**
 * The activities of the task queue `node-<id>`. The agent's own calls are idempotent, and go on when an
 * activity ends. If an activity is cut off by anything but the workflow, such as a lost heartbeat or a
 * restart of the worker, the next attempt joins the work.
 */
export function createHostActivities(deps: { readonly agent: HostAgent }): HostActivities {
  const { agent } = deps
  return {
    async startInstance(input) {
      return await runHostWork({
        work: async () => await agent.start(input),
        onCancelRequest: async () => {
          await agent.abandon(input)
        },
      })
    },
    async stopInstance(input) {
      return await runHostWork({ work: async () => await agent.stop(input) })
    },
    async standByInstance(input) {
      return await runHostWork({ work: async () => await agent.standBy(input) })
    },
    async changeInstance(input) {
      return await runHostWork({ work: async () => await agent.change(input) })
    },
    async drainInstance(input) {
      await runHostWork({
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
      await runHostWork({
        work: async () => {
          await agent.remove(input)
        },
      })
    },
  }
}

/** The same for moves. A copy or a fetch that the workflow calls off ends, and nothing of it is left. */
export function createMoveActivities(deps: { readonly moves: InstanceMoves }): MoveActivities {
  const { moves } = deps
  return {
    async offerVolume(input) {
      return await runHostWork({ work: async () => await moves.offer(input) })
    },
    async copyVolume(input) {
      await runHostWork({
        work: async () => {
          await moves.copy(input)
        },
        onCancelRequest: async () => {
          await moves.callOffCopy(input)
        },
      })
    },
    async holdInstance(input) {
      return await runHostWork({ work: async () => await moves.hold(input) })
    },
    async releaseInstance(input) {
      await runHostWork({
        work: async () => {
          await moves.release(input)
        },
      })
    },
    async fetchInstance(input) {
      return await runHostWork({
        work: async () => await moves.fetch(input),
        onCancelRequest: async () => {
          await moves.callOff(input.instanceUuid)
        },
      })
    },
    async takeInstance(input) {
      await runHostWork({
        work: async () => {
          await moves.take(input)
        },
      })
    },
  }
}

/** The same for volumes. If the workflow calls work off, the activity ends only after the work has ended. */
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
  await runHostWork({
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

/**
 * Runs work of the host, with heartbeats, until it is over or the activity is cancelled, whichever comes
 * first.
 */
async function runHostWork<T>(options: {
  readonly work: () => Promise<T>
  readonly onCancelRequest?: () => Promise<void>
}): Promise<T> {
  const context = Context.current()
  return await withHeartbeat(async () => {
    try {
      const work = options.work()
      // After a cancellation nobody else handles a failure of the work, and an unhandled rejection would end
      // the process.
      work.catch(() => undefined)
      return await Promise.race([work, context.cancelled])
    } catch (error) {
      if (!(error instanceof CancelledFailure)) throw asApplicationFailure(error)
      if (context.cancellationDetails?.cancelRequested === true) await options.onCancelRequest?.()
      throw error
    }
  })
}

function asApplicationFailure(error: unknown): ApplicationFailure {
  const failure = asHostStartError(error)
  return ApplicationFailure.create({
    type: failure.failure,
    message: failure.message,
    nonRetryable: failure.final,
  })
}
