import type { VolumeLife } from './lifecycle.ts'

/** What the workflow of a volume is started with, should it not run. */
export interface VolumeSettings {
  readonly volumeUuid: string
  /** What its user calls it: for people who look at its workflow. */
  readonly name: string
  readonly userUuid: string
  readonly nodeId: string
  readonly sizeMb: number
  /** What the row says, where a workflow wrote it: one that was terminated goes on from there. */
  readonly recorded?: VolumeLife
}
