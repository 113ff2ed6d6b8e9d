import type { VolumeLife } from './lifecycle.ts'

/** The input with which the workflow of a volume is started if it does not run. */
export interface VolumeSettings {
  readonly volumeUuid: string
  /** The user's name for the volume, for people who look at the workflow. */
  readonly name: string
  readonly userUuid: string
  readonly nodeId: string
  readonly sizeMb: number
  /**
   * The life that the row records, if an earlier workflow wrote one. If that workflow was terminated, the
   * new one continues from this life.
   */
  readonly recorded?: VolumeLife
}
