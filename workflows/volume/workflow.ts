import { continueAsNew, setHandler, upsertSearchAttributes } from '@temporalio/workflow'
import type { News } from '../../src/domain/event/news.ts'
import type { VolumeEvent } from '../../src/domain/instance/host-work.ts'
import { decideVolume, newVolumeLife, volumeWork } from '../../src/domain/volume/lifecycle.ts'
import type { VolumeLife, VolumeLifeEvent } from '../../src/domain/volume/lifecycle.ts'
import { volumeNews } from '../../src/domain/volume/news.ts'
import type { VolumeSettings } from '../../src/domain/volume/settings.ts'
import { createEntityRecorder } from '../entity-recorder.ts'
import { createEntityWorker } from '../entity-worker.ts'
import { runEntity } from '../entity.ts'
import type { Entity, EntityLoop } from '../entity.ts'
import { heardEvent } from '../host-calls.ts'
import type { HeardAs } from '../host-calls.ts'
import { rowWrites } from '../row-writes.ts'
import { nodeAttribute } from '../search-attributes.ts'
import { volumeCalls } from './calls.ts'
import { volumeDetails } from './details.ts'
import * as message from './messages.ts'

/** What one run of the workflow hands to the next run. */
export interface CarriedVolume {
  readonly life: VolumeLife
  readonly recorded: number
  readonly nodeAway: boolean
  readonly news?: readonly News[]
}

/** The workflow of one volume, as long as it exists. */
export async function volume(settings: VolumeSettings, carried?: CarriedVolume): Promise<void> {
  await runEntity<VolumeLife, VolumeLifeEvent>({
    life: carried?.life ?? settings.recorded ?? newVolumeLife,
    decide: decideVolume,
    newsOf: volumeNews,
    ...(carried?.news !== undefined && { news: carried.news }),
    define: (loop) => define(loop, settings, carried),
  })
}

type Loop = EntityLoop<VolumeLife, VolumeLifeEvent>

function define(
  loop: Loop,
  settings: VolumeSettings,
  carried: CarriedVolume | undefined,
): Entity<VolumeLife, VolumeLifeEvent> {
  const { volumeUuid, sizeMb } = settings
  const nodeOf = (life: VolumeLife): string => life.nodeId ?? settings.nodeId
  receive(loop, nodeOf)
  const host = createEntityWorker(loop, {
    ...volumeCalls({ volumeUuid, sizeMb, nodeId: () => nodeOf(loop.life) }),
    workOf: volumeWork,
    nodeAway: carried?.nodeAway ?? false,
    placeOf: nodeOf,
  })
  const recorder = createEntityRecorder(loop, {
    recorded: carried?.recorded ?? 0,
    async write({ revision, phase, made, failure }, news) {
      const record = { phase, made, ...(failure === undefined ? {} : { failure }) }
      await rowWrites.recordVolume({ volumeUuid, revision, record, news })
    },
  })
  return {
    begin: { kind: 'begin' },
    parts: [host, recorder],
    // `host.busy` does not count: a call to a host that never comes back may still be open.
    isOver: ({ removed }) => removed === true && !recorder.busy,
    nextRun: (life) =>
      continueAsNew<typeof volume>(settings, {
        life,
        recorded: recorder.recorded,
        nodeAway: host.nodeAway,
        news: loop.news,
      }),
    stateOf: ({ phase }) => phase,
    details: (life) => volumeDetails(life, { ...settings, nodeId: nodeOf(life), nodeAway: host.nodeAway }),
    deleteRow: () => rowWrites.deleteVolumeRow({ volumeUuid }),
  }
}

function receive(loop: Loop, nodeOf: (life: VolumeLife) => string): void {
  setHandler(message.repairSignal, () => void loop.say({ kind: 'repair' }), {
    description: 'Check all of it and mend what can be mended, or try once more to make it',
  })
  setHandler(
    message.volumeMovedSignal,
    ({ nodeId }) => {
      if (nodeOf(loop.life) === nodeId) return
      loop.say({ kind: 'moved', nodeId })
      upsertSearchAttributes([{ key: nodeAttribute, value: nodeId }])
    },
    { description: 'It moved to another host with its instance; may be repeated' },
  )
  const hear = (told: VolumeEvent): void => {
    const event = heardEvent(heardAs, told)
    if (event !== undefined) loop.say(event)
  }
  setHandler(message.volumeEventSignal, hear, {
    description: 'What its host found out about it; may be repeated',
  })
}

const heardAs: HeardAs<VolumeEvent, VolumeLifeEvent> = {
  damaged: ({ reason }) => ({ kind: 'damaged', reason }),
  made: () => ({ kind: 'made' }),
  removed: () => ({ kind: 'removed' }),
}
