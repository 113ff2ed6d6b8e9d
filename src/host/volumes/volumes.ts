/**
 * The port to the volumes of a host: block devices with an ext4 file system, one file each. The agent or the
 * machine may die during any call, and the call may then be repeated. After that a volume is either complete
 * or made from the start, never half made.
 *
 * At most one instance holds a volume at a time. The hold is on disk: it outlives the agent and only
 * `release` ends it. It keeps two VMs from writing to one file system. The VMM's lock on the file is a
 * second guard against the same.
 */
export interface Volumes {
  /**
   * Makes an empty volume and resolves when it is durable. A complete volume is left as it is, with any
   * content.
   */
  make(volume: VolumeSize, signal?: AbortSignal): Promise<void>
  /**
   * Gives the volume to an instance, for this boot and those after it, until `release`. First its file
   * system is checked, and corrected where that needs no decision. With `continues` there is no check: a
   * guest's memory continues with the volume, and nobody else may touch it. Fails at once with `VolumeInUse`
   * while another instance holds the volume, a process has its file open, or it is being repaired or erased;
   * asking again costs almost nothing. If it fails with `VolumeUnusable`, nobody holds the volume, so that a
   * repair finds it free. If a volume that was made is missing, no new one is made: it is `VolumeUnusable`.
   */
  hold(volume: VolumeHold, signal?: AbortSignal): Promise<HeldVolume>
  /**
   * Releases all volumes that the instance holds. To be called when the instance has no VM and no memory
   * that may continue. Idempotent.
   */
  release(instanceUuid: string): Promise<void>
  /** Returns every hold on disk, also those of instances that do not exist any more. */
  holds(): Promise<readonly { readonly volumeUuid: string; readonly instanceUuid: string }[]>
  /**
   * Checks the whole file system and corrects what it can. Fails with `VolumeInUse`, or with
   * `VolumeUnusable` if errors remain.
   */
  repair(volumeUuid: string, signal?: AbortSignal): Promise<void>
  /**
   * Overwrites what was written to the volume, deletes it, and resolves when that is durable. Fails with
   * `VolumeInUse`. Idempotent.
   */
  remove(volumeUuid: string, signal?: AbortSignal): Promise<void>
  /** The volumes that are complete and have a file, held or not. */
  uuids(): Promise<readonly string[]>
  room(): Promise<VolumeRoom>

  /**
   * The file of a volume that the instance holds, to be read by the host to which both move. Undefined if the
   * instance does not hold it.
   */
  heldFile(volumeUuid: string, instanceUuid: string): Promise<string | undefined>
  /**
   * Ends this host's part of a volume that another host has now: it can not be used when this has resolved,
   * and what was written to it is overwritten and deleted after that, by the next agent if need be. Fails
   * with `VolumeInUse` if another instance than this one holds it. Idempotent.
   */
  giveAway(volumeUuid: string, instanceUuid: string): Promise<void>
  /**
   * Makes the file of a volume that moves here, empty and as long as the volume, and returns its path. Its
   * room is promised from then on. What arrived of it before is dropped. Fails with `HostFull`, or with
   * `VolumeInUse` if this host has the volume.
   */
  beginArrival(volume: VolumeSize): Promise<string>
  /**
   * All content of the volume is in that file, durably. Nobody can use it yet, because the row may name the
   * other host. Once this is its host, the instance will hold it.
   */
  finishArrival(volumeUuid: string, instanceUuid: string): Promise<void>
  /**
   * Ends an arrival that was begun and not finished. A volume that arrived as a whole is left as it is.
   * Idempotent.
   */
  cancelArrival(volumeUuid: string): Promise<void>
  /** The volumes that arrived as a whole, and that nobody can use yet. */
  arrived(): Promise<readonly string[]>
  /**
   * Makes a volume that arrived one of this host's, because its row names this host. With `isHeld` the
   * instance for which it arrived holds it, and this fails if the volume is not here. Idempotent. A hold, a
   * repair and a removal take it, too: they are asked only of the volume's host.
   */
  takeArrival(volumeUuid: string, how?: { readonly isHeld: boolean }): Promise<void>
  /**
   * Ends a volume that arrived as a whole and is another host's. It is overwritten as by `giveAway`. A volume
   * that was taken, or is being fetched, is left as it is. Idempotent.
   */
  dropArrival(volumeUuid: string): Promise<void>
}

export interface VolumeSize {
  readonly uuid: string
  readonly sizeMb: number
}

export interface VolumeHold {
  readonly uuid: string
  readonly instanceUuid: string
  readonly readonly: boolean
  /** True if the VM continues from a snapshot that was made with this volume. */
  readonly continues: boolean
}

export interface HeldVolume {
  readonly uuid: string
  /** The path of the file with the raw content of the device. A fake gives undefined. */
  readonly path?: string
  readonly readonly: boolean
}

export interface VolumeRoom {
  /** The number of volumes. */
  readonly volumes: number
  /**
   * The most that all volumes may promise together: the disk's free space plus the room that volumes already
   * take, less the reserve.
   */
  readonly totalMb: number
  /** The room that the existing volumes promise. */
  readonly promisedMb: number
  /** The free room of the disk at the time of the reading. */
  readonly freeMb: number
  /** The size of the disk. */
  readonly diskMb: number
}

/** A volume could not be made, held, repaired or removed. The message is for the volume's owner. */
export class VolumeError extends Error {
  override readonly name = 'VolumeError'
  readonly failure: 'HostFull' | 'VolumeUnusable' | 'VolumeInUse'
  constructor(failure: VolumeError['failure'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.failure = failure
  }
}
