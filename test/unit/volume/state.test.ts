import { strict as assert } from 'node:assert'
import {
  VolumeCommand,
  VolumePhase,
  VolumeRefusal,
  VolumeState,
  VolumeUse,
  volumeRefusal,
  volumeState,
  volumeStates,
} from '../../../src/domain/volume/state.ts'

const everything = Object.values(VolumePhase).flatMap((phase) =>
  Object.values(VolumeUse).map((use) => ({ phase, use })),
)

describe('the state of a volume', () => {
  it('depends on its instance only if its file system exists and is sound', () => {
    const ready = (use: VolumeUse) => volumeState(VolumePhase.Ready, use)
    assert.deepEqual(Object.values(VolumeUse).map(ready), ['available', 'idle', 'mounted'])
    for (const { phase, use } of everything) {
      if (phase !== VolumePhase.Ready) assert.equal(volumeState(phase, use), phase)
    }
  })

  it('is each of those that the API knows', () => {
    const reached = new Set(everything.map(({ phase, use }) => volumeState(phase, use)))
    assert.deepEqual([...reached].toSorted(), volumeStates.toSorted())
    assert.equal(volumeStates.length, 7)
  })
})

describe('a request to a volume', () => {
  it('to attach it is permitted only while it is available', () => {
    for (const volume of everything) {
      const available = volumeState(volume.phase, volume.use) === VolumeState.Available
      const refusal = volumeRefusal(VolumeCommand.Attach, volume)
      assert.equal(refusal, available ? undefined : VolumeRefusal.NotAvailable)
    }
  })

  it('to detach it is refused while an instance may run with it, whatever the state of its file system', () => {
    for (const volume of everything) {
      const refusal = volumeRefusal(VolumeCommand.Detach, volume)
      assert.equal(refusal, volume.use === VolumeUse.Live ? VolumeRefusal.Mounted : undefined)
    }
  })

  it('to delete it is refused while an instance has it, whatever the state of its file system', () => {
    for (const volume of everything) {
      const refusal = volumeRefusal(VolumeCommand.Delete, volume)
      assert.equal(refusal, volume.use === VolumeUse.None ? undefined : VolumeRefusal.Attached)
    }
  })
})
