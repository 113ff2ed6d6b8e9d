/**
 * The port to the volumes of a host: block devices with an ext4 file system, one file each. Every call may be
 * cut off by the death of the agent or of the machine and be repeated: what stands is complete or begun anew,
 * never half.
 *
 * At most one instance holds a volume at a time, and the hold is on disk: it outlives the agent, ends only by
 * `release`, and is what keeps two VMs from writing to one file system. The VMM's lock on the file is a
 * second bar against the same.
 */
export interface Volumes {
  /**
   * Makes the volume, empty, and resolves when it is durable. One that stands complete is left as it is,
   * whatever its content.
   */
  make(volume: VolumeSize, signal?: AbortSignal): Promise<void>
  /**
   * Gives the volume to an instance, for this boot and those after it, until `release`. Its file system is
   * checked first, and mended where that takes no decision, unless `continues`: then a guest's memory goes on
   * with it, and nobody else may touch it. Fails at once with `VolumeInUse` while another instance holds it,
   * a process has its file, or it is being repaired or erased: to ask again costs next to nothing. Fails with
   * `VolumeUnusable`, and then nobody holds it: a repair finds it free. What was made and is gone stays gone,
   * and is `VolumeUnusable`.
   */
  hold(volume: VolumeHold, signal?: AbortSignal): Promise<HeldVolume>
  /** The instance has no VM and no memory that goes on: whatever it holds is free. Idempotent. */
  release(instanceUuid: string): Promise<void>
  /** Every hold on disk, also those of instances that are gone. */
  holds(): Promise<readonly { readonly volumeUuid: string; readonly instanceUuid: string }[]>
  /**
   * A whole check that mends what it can. Fails with `VolumeInUse`, or `VolumeUnusable` with what remains.
   */
  repair(volumeUuid: string, signal?: AbortSignal): Promise<void>
  /**
   * Overwrites what the volume had written, deletes it, and resolves when that is durable. Fails with
   * `VolumeInUse`. Idempotent.
   */
  remove(volumeUuid: string, signal?: AbortSignal): Promise<void>
  room(): Promise<VolumeRoom>
}

export interface VolumeSize {
  readonly uuid: string
  readonly sizeMb: number
}

export interface VolumeHold {
  readonly uuid: string
  readonly instanceUuid: string
  readonly readonly: boolean
  /** The VM goes on from a snapshot that was made with this volume. */
  readonly continues: boolean
}

export interface HeldVolume {
  readonly uuid: string
  /** Raw content of the device. Undefined from a fake. */
  readonly path?: string
  readonly readonly: boolean
}

export interface VolumeRoom {
  /** How many there are. */
  readonly volumes: number
  /**
   * What all volumes may promise together: the disk's free space, what volumes have of it already, less the
   * reserve.
   */
  readonly totalMb: number
  /** What the volumes that are there promise. */
  readonly promisedMb: number
  /** Of the disk, really. */
  readonly freeMb: number
}

/** A volume could not be made, held, repaired or removed; the message is for its owner. */
export class VolumeError extends Error {
  override readonly name = 'VolumeError'
  readonly failure: 'HostFull' | 'VolumeUnusable' | 'VolumeInUse'
  constructor(failure: VolumeError['failure'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.failure = failure
  }
}
