import type { VolumeSettings } from '../domain/volume/settings.ts'

/**
 * What the rest of Roost may ask of a volume's workflow. As with instances, every call ends within
 * `callDeadlineMs`, throws `ControlUnavailable` where Temporal did not answer in time, and starts the
 * workflow first where nobody did.
 */
export interface VolumeControl {
  /** Starts the workflow. Idempotent: one that runs, or that deleted its volume, is left alone. */
  ensureStarted(settings: VolumeSettings): Promise<void>
  /**
   * Tells the workflow that the volume is to go. The row has to be marked deleted before; where this throws,
   * the sweep repeats it. Idempotent, and returns for volumes that are gone already.
   */
  delete(settings: VolumeSettings): Promise<void>
  /**
   * Has the host check the whole file system and mend what can be mended; a volume that could not be made is
   * made again. It does not wait for that: the row's phase shows how it goes. Throws `VolumeGone`.
   */
  repair(settings: VolumeSettings): Promise<void>
  /**
   * Its host never comes back, so nothing of it is left there: a deletion that waits for that host ends.
   * Changes nothing of what is not deleted. Idempotent, and returns for what is gone already.
   */
  hostGone(volumeUuid: string): Promise<void>
  /** Makes the workflow continue as new at its next idle point. */
  refresh(volumeUuid: string): Promise<void>
}

/** The volume is deleted, and nothing of it is left. */
export class VolumeGone extends Error {
  override readonly name = 'VolumeGone'
  constructor(volumeUuid: string, options?: ErrorOptions) {
    super(`Volume ${volumeUuid} is deleted`, options)
  }
}
