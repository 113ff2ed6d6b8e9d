import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { HostFailure } from '../../src/domain/instance/host-work.ts'
import { VolumePhase } from '../../src/domain/volume/state.ts'
import { VolumeWork } from '../../src/domain/volume/lifecycle.ts'
import { until } from '../support/until.ts'
import type { VolumeWorld, VolumeWorldOptions } from '../workflow/volume/world.ts'

const { Make, Repair } = VolumeWork
const { Ready, Busy, Error: Failed } = VolumePhase
const soon = { limitMs: 30_000 }

export interface VolumeStory {
  readonly options: VolumeWorldOptions
  readonly lived: (world: VolumeWorld, env: TestWorkflowEnvironment) => Promise<void>
}

/** Lives of volumes that are recorded. */
export const volumeStories: Readonly<Record<string, VolumeStory>> = {
  'volume-made-and-deleted': {
    options: {},
    async lived(world) {
      await world.reachesPhase(Ready)
      await world.control.delete(world.settings)
      await world.gone
    },
  },
  'volume-made-at-the-third-try': {
    options: {
      failureOf: (work, attempt) => (work === Make && attempt < 3 ? HostFailure.HostFull : undefined),
    },
    async lived(world) {
      await world.reachesPhase(Ready)
    },
  },
  'volume-given-up-then-made-by-a-start': {
    options: { failureOf: (work) => (work === Make ? HostFailure.VolumeUnusable : undefined) },
    async lived(world) {
      await world.reachesPhase(Failed)
      await world.control.repair(world.settings)
      await until('it is tried again', () => world.host.count(Make) === 2, soon)
      await world.reachesPhase(Failed)
      await world.tells({ kind: 'made' })
      await world.reachesPhase(Ready)
    },
  },
  'volume-damaged-and-repaired': {
    options: {
      failureOf: (work, attempt) =>
        work === Repair && attempt === 1 ? HostFailure.VolumeUnusable : undefined,
    },
    async lived(world) {
      await world.reachesPhase(Ready)
      await world.tells({ kind: 'damaged', reason: 'its file is gone' })
      await world.reachesPhase(Failed)
      await world.control.repair(world.settings)
      await world.reaches(({ failure }) => failure === 'fake VolumeUnusable')
      await world.control.repair(world.settings)
      await world.reachesPhase(Ready)
    },
  },
  'volume-deleted-during-its-repair': {
    options: { gate: (work) => (work === Repair ? new Promise(() => undefined) : undefined) },
    async lived(world) {
      await world.reachesPhase(Ready)
      await world.control.repair(world.settings)
      await world.reachesPhase(Busy)
      await until('it is repaired', () => world.host.calls.includes(Repair), soon)
      await world.control.delete(world.settings)
      await world.gone
    },
  },
  'volume-deleted-before-it-began': {
    options: {},
    async lived(world) {
      await world.gone
    },
  },
  'volume-host-away': {
    options: { hostAway: true },
    async lived(world) {
      await until('it waits', async () => (await world.details()).includes('takes no work'), soon)
      await world.hostComesBack()
      await world.reachesPhase(Ready)
    },
  },
  'volume-continued-as-new': {
    options: {},
    async lived(world) {
      await world.reachesPhase(Ready)
      await world.control.refresh(world.settings.volumeUuid)
      await world.tells({ kind: 'damaged', reason: 'its file is gone' })
      await world.reachesPhase(Failed)
    },
  },
}
