import type { VolumeLife } from './lifecycle.ts'

/** The input with which the workflow of a volume is started if it does not run. */
export interface VolumeSettings {
  readonly volumeUuid: string
  /** The user's name for the volume, for people who look at the workflow. */
  readonly name: string
  readonly userUuid: string
  readonly nodeId: string
  readonly sizeMb: number
  /** The life in the row, if a workflow wrote one. A workflow that was terminated continues from there. */
  readonly recorded?: VolumeLife
}
