import type { VolumeSettings } from '../domain/volume/settings.ts'

/**
 * The calls that the rest of Roost makes to a volume's workflow. As with instances, every call ends within
 * `callDeadlineMs`, throws `ControlUnavailable` if Temporal did not answer in time, and starts the workflow
 * first if nobody did.
 */
export interface VolumeControl {
  /** Starts the workflow. Idempotent: a workflow that runs, or that deleted its volume, is left alone. */
  ensureStarted(settings: VolumeSettings): Promise<void>
  /**
   * Tells the workflow to delete the volume. The row has to be marked deleted before. If the call throws,
   * the sweep repeats it. Idempotent; it also returns if the volume is gone already.
   */
  delete(settings: VolumeSettings): Promise<void>
  /**
   * Makes the host check the whole file system and repair what can be repaired. A volume that could not be
   * made is made again. The call does not wait for that; the row's phase shows the progress. Throws
   * `VolumeGone`.
   */
  repair(settings: VolumeSettings): Promise<void>
  /**
   * Tells the workflow that the volume's host never comes back, so nothing of the volume is left there. A
   * deletion that waits for that host ends. A volume that is not deleted stays as it is. Idempotent; it also
   * returns if the volume is gone already.
   */
  hostGone(volumeUuid: string): Promise<void>
  /** Makes the workflow continue as new as soon as nothing is under way. */
  refresh(volumeUuid: string): Promise<void>
}

/** The volume is deleted, and nothing of it is left. */
export class VolumeGone extends Error {
  override readonly name = 'VolumeGone'
  constructor(volumeUuid: string, options?: ErrorOptions) {
    super(`Volume ${volumeUuid} is deleted`, options)
  }
}
