import { isCancellation, sleep } from '@temporalio/workflow'
import type { VolumeLifeEvent, VolumeWork } from '../../src/domain/volume/lifecycle.ts'
import { isNodeAway, unexpectedPauseMs } from '../host-calls.ts'
import { createOneWork } from '../one-work.ts'
import type { OneWork } from '../one-work.ts'
import { eventOfFailure, perform } from './calls.ts'

/** Carries out the host's share, one call at a time. */
export interface VolumeWorker extends OneWork<VolumeWork> {
  /** The host took no work when it was last asked. */
  readonly nodeAway: boolean
}

export interface VolumeWorkerOptions {
  readonly volumeUuid: string
  readonly sizeMb: number
  readonly nodeId: string
  readonly nodeAway: boolean
  readonly say: (event: VolumeLifeEvent) => void
  /** Nothing is under way any more. */
  readonly onDone: () => void
}

export function createVolumeWorker(options: VolumeWorkerOptions): VolumeWorker {
  const { nodeId } = options
  let { nodeAway } = options

  async function carryOut(work: VolumeWork): Promise<void> {
    try {
      const event = await perform(work, { ...options, nodeAway })
      nodeAway = false
      options.say(event)
    } catch (error) {
      if (isCancellation(error)) return
      nodeAway = isNodeAway(error)
      if (nodeAway) return
      const event = eventOfFailure(work, { error, nodeId })
      if (event === undefined) await sleep(unexpectedPauseMs, { summary: `${work} failed; again after this` })
      else options.say(event)
    }
  }

  const one = createOneWork({ carryOut, onDone: options.onDone })
  return {
    align: (work) => one.align(work),
    get busy() {
      return one.busy
    },
    get nodeAway() {
      return nodeAway
    },
  }
}
