import type { VolumePhase } from '../../domain/volume/state.ts'
import type { VolumeSettings } from '../../domain/volume/settings.ts'

/** What of a volume's row its workflow has to know; every `VolumeRow` is one. */
export interface VolumeSettingsRow {
  readonly uuid: string
  readonly name: string
  readonly userUuid: string
  readonly nodeId: string
  readonly sizeMb: number
  readonly revision: number
  readonly phase: VolumePhase
  readonly made: boolean
  readonly failure: string | null
}

export function volumeSettings(row: VolumeSettingsRow): VolumeSettings {
  const { uuid, name, userUuid, nodeId, sizeMb, revision, phase, made, failure } = row
  const settings = { volumeUuid: uuid, name, userUuid, nodeId, sizeMb }
  if (revision === 0) return settings
  const known = failure === null ? {} : { failure }
  return { ...settings, recorded: { phase, made, deleting: false, revision, ...known } }
}
