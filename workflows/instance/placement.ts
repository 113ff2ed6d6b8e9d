import { getExternalWorkflowHandle, sleep, upsertSearchAttributes } from '@temporalio/workflow'
import { effectsOf } from '../../src/domain/instance/lifecycle-effects.ts'
import { EventKind } from '../../src/domain/instance/lifecycle-state.ts'
import type { Lifecycle, LifecycleEvent, Move } from '../../src/domain/instance/lifecycle-state.ts'
import type { EntityLoop, LoopPart } from '../entity.ts'
import { rowWrites } from '../row-writes.ts'
import { nodeAttribute } from '../search-attributes.ts'
import { volumeMovedSignal, volumeWorkflowId } from '../volume/messages.ts'

/**
 * Writes the host of an instance into its row: it finds another one if the host is lost, and names the new
 * one of a move.
 */
export interface Placement extends LoopPart<Lifecycle> {
  /** What no host has enough of at present, for people. */
  readonly lack: string | undefined
}

/** The pause before hosts are asked for again if none has room. */
const lackPauseMs = 5_000

export function createPlacement(
  loop: EntityLoop<Lifecycle, LifecycleEvent>,
  of: { readonly instanceUuid: string; readonly nodeOf: (life: Lifecycle) => string },
): Placement {
  let lack: string | undefined
  let busy = false

  async function place(instanceUuid: string, lostNodeId: string): Promise<void> {
    const answer = await rowWrites.placeAnew({ instanceUuid, lostNodeId })
    lack = answer.lack
    if (answer.nodeId === undefined) {
      loop.lookAgain()
      await sleep(lackPauseMs, { summary: 'no host has room for it; they are looked at again after this' })
    } else {
      loop.say({ kind: EventKind.Placed, nodeId: answer.nodeId })
      upsertSearchAttributes([{ key: nodeAttribute, value: answer.nodeId }])
    }
  }

  async function move(instanceUuid: string, { from, to, atMs, volume }: Move): Promise<void> {
    const hosts = { from: from.nodeId, to: to.nodeId }
    const moved = { instanceUuid, ...hosts, ...(volume !== undefined && { volumeUuid: volume.uuid }) }
    const answer = await rowWrites.moveRow(moved)
    if (answer.failure !== undefined) {
      loop.say({ kind: EventKind.MoveFailed, atMs, why: answer.failure })
    } else {
      loop.say({ kind: EventKind.Moved, nodeId: to.nodeId })
      upsertSearchAttributes([{ key: nodeAttribute, value: to.nodeId }])
      if (volume !== undefined) await tellVolume(volume.uuid, to.nodeId)
    }
  }

  return {
    follow(life) {
      const { place: isToPlace, moveRow } = effectsOf(life)
      if (busy || (isToPlace !== true && moveRow === undefined)) return
      busy = true
      const { instanceUuid } = of
      const write = moveRow === undefined ? place(instanceUuid, of.nodeOf(life)) : move(instanceUuid, moveRow)
      void write.then(() => {
        busy = false
        loop.lookAgain()
      })
    },
    get busy() {
      return busy
    },
    get lack() {
      return lack
    },
  }
}

/** A volume whose workflow does not run gets its host from the row when that begins. */
async function tellVolume(volumeUuid: string, nodeId: string): Promise<void> {
  const workflow = getExternalWorkflowHandle(volumeWorkflowId(volumeUuid))
  await workflow.signal(volumeMovedSignal, { nodeId }).catch(() => undefined)
}
