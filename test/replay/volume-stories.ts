import { HostFailure } from '../../src/domain/instance/host-work.ts'
import { VolumePhase } from '../../src/domain/volume/state.ts'
import { VolumeWork } from '../../src/domain/volume/lifecycle.ts'
import { until } from '../support/until.ts'
import { createVolumeWorld } from '../workflow/volume/world.ts'
import { storiesIn } from './story.ts'
import type { Story } from './story.ts'

const { Repair } = VolumeWork
const { Ready, Busy, Error: Failed } = VolumePhase
const soon = { limitMs: 30_000 }

const story = storiesIn(createVolumeWorld)

/** The lives of volumes that are recorded. */
export const volumeStories: Readonly<Record<string, Story>> = {
  'volume-damaged-and-repaired': story(
    {
      failureOf: (work, attempt) =>
        work === Repair && attempt === 1 ? HostFailure.VolumeUnusable : undefined,
    },
    async (world) => {
      await world.reachesPhase(Ready)
      await world.tells({ kind: 'damaged', reason: 'its file is gone' })
      await world.reachesPhase(Failed)
      await world.control.repair(world.settings)
      await world.reaches(({ failure }) => failure === 'fake VolumeUnusable')
      await world.control.repair(world.settings)
      await world.reachesPhase(Ready)
    },
  ),
  'volume-deleted-during-its-repair': story(
    { gate: (work) => (work === Repair ? new Promise(() => undefined) : undefined) },
    async (world) => {
      await world.reachesPhase(Ready)
      await world.control.repair(world.settings)
      await world.reachesPhase(Busy)
      await until('it is repaired', () => world.host.calls.includes(Repair), soon)
      await world.control.delete(world.settings)
      await world.gone
    },
  ),
  'volume-continued-as-new': story({}, async (world) => {
    await world.reachesPhase(Ready)
    await world.control.refresh(world.settings.volumeUuid)
    await world.tells({ kind: 'damaged', reason: 'its file is gone' })
    await world.reachesPhase(Failed)
  }),
}
