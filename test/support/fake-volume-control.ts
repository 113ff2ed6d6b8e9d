import type { VolumeControl } from '../../src/control/volume-control.ts'
import type { Database } from '../../src/db/database.ts'
import { recordVolume, removeVolumeRow } from '../../src/db/volume/records.ts'
import { decideVolume, newVolumeLife } from '../../src/domain/volume/lifecycle.ts'
import type { VolumeLife, VolumeLifeEvent } from '../../src/domain/volume/lifecycle.ts'
import { noteCalls } from './fake-calls.ts'
import type { ControlFaults, FakeCalls } from './fake-calls.ts'

/** The faults and delays of the fake workflows. */
export interface FakeVolumeFaults extends ControlFaults {
  /** Volumes stay `initializing` or `busy` until the test calls `tell`. */
  holdsWork?: boolean
  /** Volumes can not be made, for this reason. */
  failsMaking?: string
}

/** A control whose workflows do everything at once. The workflow itself has its own tests. */
export interface FakeVolumeControl extends VolumeControl, FakeCalls<FakeVolumeFaults> {
  /** Feeds an event that the volume's host would send. */
  tell(uuid: string, event: VolumeLifeEvent): Promise<void>
}

export function createFakeVolumeControl(database: Database): FakeVolumeControl {
  const { faults, calls, called } = noteCalls<FakeVolumeFaults>()
  const lives = new Map<string, VolumeLife>()

  async function tell(uuid: string, event: VolumeLifeEvent): Promise<void> {
    const life = decideVolume(lives.get(uuid) ?? newVolumeLife, event)
    lives.set(uuid, life)
    await recordVolume(database, { uuid, revision: life.revision }, life)
  }

  async function make(uuid: string): Promise<void> {
    if (faults.holdsWork === true) return
    const { failsMaking: reason } = faults
    await tell(uuid, reason === undefined ? { kind: 'made' } : { kind: 'make-failed', reason })
  }

  return {
    faults,
    calls,
    tell,
    async ensureStarted({ volumeUuid }) {
      called('ensureStarted')
      await tell(volumeUuid, { kind: 'begin' })
      await make(volumeUuid)
    },
    async delete({ volumeUuid }) {
      called('delete')
      lives.delete(volumeUuid)
      await removeVolumeRow(database, volumeUuid)
    },
    async repair({ volumeUuid }) {
      called('repair')
      await tell(volumeUuid, { kind: 'repair' })
      if (faults.holdsWork !== true) await tell(volumeUuid, { kind: 'repaired' })
      await make(volumeUuid)
    },
    async hostGone(volumeUuid) {
      called('hostGone')
      await removeVolumeRow(database, volumeUuid)
    },
    async refresh() {
      called('refresh')
    },
  }
}
