import {
  CancellationScope,
  condition,
  continueAsNew,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow'
import type { VolumeEvent } from '../../src/domain/instance/host-work.ts'
import { decideVolume, newVolumeLife, volumeWork } from '../../src/domain/volume/lifecycle.ts'
import type { VolumeLife, VolumeLifeEvent } from '../../src/domain/volume/lifecycle.ts'
import type { VolumeSettings } from '../../src/domain/volume/settings.ts'
import { receiveTheRest, wantsNewRun } from '../entity-loop.ts'
import type { LoopState } from '../entity-loop.ts'
import { deleteSignal } from '../entity-messages.ts'
import { rowWrites } from '../row-writes.ts'
import { stateAttribute } from '../search-attributes.ts'
import { volumeDetails } from './details.ts'
import * as message from './messages.ts'
import { createVolumeRecorder } from './recorder.ts'
import { createVolumeWorker } from './worker.ts'

/** What one run hands to the next. A change that old values do not fit gets a new number. */
export interface CarriedVolume {
  readonly schemaVersion: 1
  readonly life: VolumeLife
  readonly recorded: number
  readonly nodeAway: boolean
}

/**
 * One volume, for as long as it exists. Messages feed its life; one loop compares what that wants with what
 * is under way. A cancellation from outside changes nothing: a volume goes by being deleted.
 */
export async function volume(settings: VolumeSettings, carried?: CarriedVolume): Promise<void> {
  await CancellationScope.nonCancellable(() => live(settings, carried))
}

/** What handlers and finished work share with the loop. */
interface VolumeLoop extends LoopState {
  life: VolumeLife
  say(event: VolumeLifeEvent): void
}

function createLoop(life: VolumeLife): VolumeLoop {
  return {
    life,
    changed: true,
    refreshWanted: false,
    say(event) {
      this.life = decideVolume(this.life, event)
      this.changed = true
    },
  }
}

async function live(settings: VolumeSettings, carried: CarriedVolume | undefined): Promise<void> {
  const { volumeUuid, sizeMb, nodeId } = settings
  const loop = createLoop(carried?.life ?? settings.recorded ?? newVolumeLife)
  receive(loop)
  // A deletion that came with the start has been heard by now: then there is nothing to begin.
  loop.say({ kind: 'begin' })
  let shownPhase = (carried?.life ?? settings.recorded ?? newVolumeLife).phase

  const onDone = (): void => {
    loop.changed = true
  }
  const host = createVolumeWorker({
    volumeUuid,
    sizeMb,
    nodeId,
    nodeAway: carried?.nodeAway ?? false,
    say: (event) => loop.say(event),
    onDone,
  })
  const recorder = createVolumeRecorder({ volumeUuid, recorded: carried?.recorded ?? 0, onDone })

  for (;;) {
    loop.changed = false
    const { life } = loop
    if (life.removed === true) break
    if (wantsNewRun(loop) && !host.busy && !recorder.busy) {
      const { recorded } = recorder
      const { nodeAway } = host
      await continueAsNew<typeof volume>(settings, { schemaVersion: 1, life, recorded, nodeAway })
    }
    host.align(volumeWork(life))
    recorder.align(life)
    if (life.phase !== shownPhase) upsertSearchAttributes([{ key: stateAttribute, value: life.phase }])
    shownPhase = life.phase
    setCurrentDetails(volumeDetails(life, { ...settings, nodeAway: host.nodeAway }))
    await condition(() => loop.changed)
  }
  await condition(() => !recorder.busy)
  await rowWrites.deleteVolumeRow({ volumeUuid })
}

/** Handlers are synchronous, so none is ever unfinished when a run ends. */
function receive(loop: VolumeLoop): void {
  setHandler(deleteSignal, () => loop.say({ kind: 'delete' }), { description: 'Erase and remove it' })
  setHandler(message.repairSignal, () => loop.say({ kind: 'repair' }), {
    description: 'Check all of it and mend what can be mended, or try once more to make it',
  })
  setHandler(message.volumeEventSignal, (event) => hearHost(loop, event), {
    description: 'What its host found out about it; may be repeated',
  })
  setHandler(message.volumeLifeQuery, () => loop.life, { description: 'All that is known of its life' })
  receiveTheRest(loop)
}

/** The agent of a host may be newer than this worker, and know of more to tell: that is left aside. */
function hearHost(loop: VolumeLoop, event: VolumeEvent): void {
  const heard = heardAs[event.kind] as ((event: VolumeEvent) => VolumeLifeEvent) | undefined
  if (heard !== undefined) loop.say(heard(event))
}

const heardAs = {
  damaged: ({ reason }) => ({ kind: 'damaged', reason }),
  made: () => ({ kind: 'made' }),
  removed: () => ({ kind: 'removed' }),
} satisfies {
  readonly [K in VolumeEvent['kind']]: (event: Extract<VolumeEvent, { readonly kind: K }>) => VolumeLifeEvent
}
