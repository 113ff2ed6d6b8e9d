import { computed } from '@preact/signals'
import { succeeded } from '../../src/client/answers.ts'
import type { Entry } from '../../src/client/answers.ts'
import { VolumeState } from '../../src/domain/volume/state.ts'
import { api } from '../frame/api.ts'
import { Mood } from '../instance/mood.ts'
import { ObjectStore } from '../object/store.ts'

export type Volume = Entry<'GetVolumesAnswer'>

export const volumes = new ObjectStore<Volume>({
  read: async (signal) => succeeded(await api.GET('/v1/volumes', { signal })),
  // The state of a volume follows that of its instance.
  concerns: ({ object: { type } }) => type === 'volume' || type === 'instance',
})

export const volumeByUuid = computed(() => new Map(volumes.all.value.map((volume) => [volume.uuid, volume])))

const states: Readonly<Record<VolumeState, readonly [mood: Mood, word: string]>> = {
  [VolumeState.Uninitialized]: [Mood.Moves, 'Requested'],
  [VolumeState.Initializing]: [Mood.Moves, 'Being made'],
  [VolumeState.Available]: [Mood.Rests, 'Available'],
  [VolumeState.Idle]: [Mood.Sleeps, 'Idle'],
  [VolumeState.Mounted]: [Mood.Runs, 'Mounted'],
  [VolumeState.Busy]: [Mood.Moves, 'Being repaired'],
  [VolumeState.Error]: [Mood.Fails, 'Failed'],
}

export function volumeState({ state = VolumeState.Uninitialized }: Volume) {
  const [mood, word] = states[state]
  return { mood, word }
}
