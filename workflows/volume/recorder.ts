import type { VolumeLife } from '../../src/domain/volume/lifecycle.ts'
import { createLifeRecorder } from '../life-recorder.ts'
import type { LifeRecorder } from '../life-recorder.ts'
import { rowWrites } from '../row-writes.ts'

export function createVolumeRecorder(of: {
  readonly volumeUuid: string
  readonly recorded: number
  readonly onDone: () => void
}): LifeRecorder<VolumeLife> {
  return createLifeRecorder({
    ...of,
    async write({ revision, phase, made, failure }) {
      const record = { phase, made, ...(failure === undefined ? {} : { failure }) }
      await rowWrites.recordVolume({ volumeUuid: of.volumeUuid, revision, record })
    },
  })
}
