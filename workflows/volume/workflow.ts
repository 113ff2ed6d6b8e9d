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
 * One volume, for as long as it exists. Messages feed its life; one loop compares what that wants with what is under way. A
 * cancellation from outside changes nothing: a volume goes by being deleted.
 */
export async function volume(settings: VolumeSettings, carried?: CarriedVolume): Promise<void> {
  await CancellationScope.nonCancellable(() => live(settings, carried))
}

/** What handlers and finished work share with the loop. */
interface Mind extends LoopState {
  life: VolumeLife
  say(event: VolumeLifeEvent): void
}

function createMind(life: VolumeLife): Mind {
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
  const mind = createMind(carried?.life ?? settings.recorded ?? newVolumeLife)
  receive(mind)
  // A deletion that came with the start has been heard by now: then there is nothing to begin.
  mind.say({ kind: 'begin' })
  let shownPhase = (carried?.life ?? settings.recorded ?? newVolumeLife).phase

  const onDone = (): void => {
    mind.changed = true
  }
  const host = createVolumeWorker({
    volumeUuid,
    sizeMb,
    nodeId,
    nodeAway: carried?.nodeAway ?? false,
    say: (event) => mind.say(event),
    onDone,
  })
  const recorder = createVolumeRecorder({ volumeUuid, recorded: carried?.recorded ?? 0, onDone })

  for (;;) {
    mind.changed = false
    const { life } = mind
    if (life.removed === true) break
    if (wantsNewRun(mind) && !host.busy && !recorder.busy) {
      const { recorded } = recorder
      const { nodeAway } = host
      await continueAsNew<typeof volume>(settings, { schemaVersion: 1, life, recorded, nodeAway })
    }
    host.align(volumeWork(life))
    recorder.align(life)
    if (life.phase !== shownPhase) upsertSearchAttributes([{ key: stateAttribute, value: life.phase }])
    shownPhase = life.phase
    setCurrentDetails(volumeDetails(life, { ...settings, nodeAway: host.nodeAway }))
    await condition(() => mind.changed)
  }
  await condition(() => !recorder.busy)
  await rowWrites.deleteVolumeRow({ volumeUuid })
}

/** Handlers are synchronous, so none is ever unfinished when a run ends. */
function receive(mind: Mind): void {
  setHandler(deleteSignal, () => mind.say({ kind: 'delete' }), { description: 'Erase and remove it' })
  setHandler(message.repairSignal, () => mind.say({ kind: 'repair' }), {
    description: 'Check all of it and mend what can be mended, or try once more to make it',
  })
  setHandler(message.volumeEventSignal, (event) => hearHost(mind, event), {
    description: 'What its host found out about it; may be repeated',
  })
  setHandler(message.volumeLifeQuery, () => mind.life, { description: 'All that is known of its life' })
  receiveTheRest(mind)
}

/** The agent of a host may be newer than this worker, and know of more to tell: that is left aside. */
function hearHost(mind: Mind, event: VolumeEvent): void {
  const heard = heardAs[event.kind] as ((event: VolumeEvent) => VolumeLifeEvent) | undefined
  if (heard !== undefined) mind.say(heard(event))
}

const heardAs = {
  damaged: ({ reason }) => ({ kind: 'damaged', reason }),
  made: () => ({ kind: 'made' }),
  removed: () => ({ kind: 'removed' }),
} satisfies {
  readonly [K in VolumeEvent['kind']]: (event: Extract<VolumeEvent, { readonly kind: K }>) => VolumeLifeEvent
}
