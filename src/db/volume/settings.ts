import type { VolumeSettings } from '../../domain/volume/settings.ts'
import type { Row } from '../schema/tables.ts'

/** The columns that a volume's workflow has to know. */
export const volumeSettingsColumns = [
  'uuid',
  'name',
  'userUuid',
  'nodeId',
  'sizeMb',
  'revision',
  'phase',
  'made',
  'failure',
] as const satisfies readonly (keyof Row<'volumes'>)[]

/** The values of these columns. Every `VolumeRow` has them. */
export type VolumeSettingsRow = Readonly<Pick<Row<'volumes'>, (typeof volumeSettingsColumns)[number]>>

export function volumeSettings(row: VolumeSettingsRow): VolumeSettings {
  const { uuid, name, userUuid, nodeId, sizeMb, revision, phase, made, failure } = row
  const settings = { volumeUuid: uuid, name, userUuid, nodeId, sizeMb }
  if (revision === 0) return settings
  const known = failure === null ? {} : { failure }
  return { ...settings, recorded: { phase, made, deleting: false, revision, ...known } }
}
