import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import path from 'node:path'
import { Semaphore } from '../../primitives/semaphore.ts'
import { DiskRoom } from '../disk-room.ts'
import type { DiskPromise } from '../disk-room.ts'
import { checkFileSystem, repairFileSystem } from './file-system-check.ts'
import { isLocked } from './file-locks.ts'
import {
  asHostFull,
  exists,
  imageName,
  imagePath,
  isMissing,
  makeDirectory,
  moveStage,
  removeDirectory,
  stageDirectory,
  stagedVolumes,
  syncDirectory,
  unlessMissing,
  VolumeStage,
} from './volume-directory.ts'
import { VolumeArrivals } from './volume-arrivals.ts'
import { eraseFile } from './volume-erase.ts'
import { formatVolume, mebibyte } from './volume-format.ts'
import { VolumeHolds } from './volume-holds.ts'
import { readPromises, readRoom } from './volume-room.ts'
import { volumeOwner } from './volume-tool.ts'
import { VolumeTurns } from './volume-turns.ts'
import { VolumeError } from './volumes.ts'
import type { HeldVolume, VolumeHold, VolumeRoom, Volumes, VolumeSize } from './volumes.ts'

export interface FileVolumesOptions {
  /** The directory of the volumes. Only one agent may use it. It is made if it is missing. */
  readonly directory: string
  /**
   * The ledger of the host's disks, in which the promises of the volumes are entered. If it is absent, the
   * volumes have a ledger of their own.
   */
  readonly disk?: DiskRoom
  /** The reserve of that ledger of their own. */
  readonly reserveMb?: number
  /** Called with a message about each failure that is tried again. */
  readonly onProblem?: (message: string) => void
}

const { New, Complete, Erasing, Arriving } = VolumeStage
const notArrived = 'the volume that moves to this host is not here'

/**
 * Volumes as sparse files, each in a directory of its own; `volume-directory.ts` says what a directory's
 * name means. They are made, checked and repaired by e2fsprogs, which runs as the volume's own user
 * (`volume-tool.ts`).
 */
export class FileVolumes implements Volumes {
  readonly #root: string
  readonly #disk: DiskRoom
  /** The entry in the ledger for what volumes may still write. */
  readonly #promise: DiskPromise
  readonly #onProblem: (message: string) => void
  readonly #holds: VolumeHolds
  readonly #arrivals: VolumeArrivals
  readonly #turns = new VolumeTurns()
  /** Aborts the erases that no caller waits for. */
  readonly #closing = new AbortController()
  #unattended: Promise<unknown> = Promise.resolve()
  /** One of these erases runs at a time, so that they leave most of the disk to others. */
  readonly #erasing = new Semaphore(1)

  private constructor({ directory, disk, reserveMb, onProblem = () => undefined }: FileVolumesOptions) {
    this.#root = directory
    this.#disk = disk ?? new DiskRoom(reserveMb === undefined ? {} : { reserveMb })
    this.#promise = { directory, unwrittenBytes: async () => await unwrittenBytes(directory) }
    this.#disk.add(this.#promise)
    this.#onProblem = onProblem
    this.#holds = new VolumeHolds(directory)
    this.#arrivals = new VolumeArrivals({
      root: directory,
      admit: async (volume, place) => {
        await (await this.#admit(volume, place)).close()
      },
      retire: async (uuid, from) => await this.#retire(uuid, from),
      counted: async (work) => await this.#counted(work),
    })
  }

  /**
   * Opens the volumes: reads the holds, deletes volumes that were not finished, and continues interrupted
   * erases in the background. What was fetched in part of a volume is erased, too.
   */
  static async open(options: FileVolumesOptions): Promise<FileVolumes> {
    const volumes = new FileVolumes(options)
    await makeDirectory(options.directory)
    await volumes.#holds.open()
    const found = await stagedVolumes(options.directory)
    for (const staged of found) {
      if (staged.stage === New) await removeDirectory(stageDirectory(options.directory, staged))
      if (staged.stage === Arriving) await volumes.#retire(staged.uuid, Arriving)
    }
    for (const { uuid, stage } of found) if (stage === Erasing) volumes.#eraseSoon(uuid)
    return volumes
  }

  /** Aborts the erases that no caller waits for. The next agent continues them. */
  async close(): Promise<void> {
    this.#closing.abort(new Error('the agent ends'))
    await this.#unattended
  }

  async make(volume: VolumeSize, signal?: AbortSignal): Promise<void> {
    await this.#turns.run(volume.uuid, 'made', { signal, work: async () => await this.#make(volume, signal) })
  }

  async hold(hold: VolumeHold, signal?: AbortSignal): Promise<HeldVolume> {
    this.#holds.refuseIfHeld(hold.uuid, hold.instanceUuid)
    return await this.#turns.run(hold.uuid, 'checked', {
      signal,
      work: async () => await this.#hold(hold, signal),
    })
  }

  async release(instanceUuid: string): Promise<void> {
    await this.#holds.release(instanceUuid)
  }

  async holds(): Promise<readonly { readonly volumeUuid: string; readonly instanceUuid: string }[]> {
    return await Promise.resolve(this.#holds.all())
  }

  async repair(volumeUuid: string, signal?: AbortSignal): Promise<void> {
    this.#holds.refuseIfHeld(volumeUuid)
    const work = async (): Promise<void> => {
      this.#holds.refuseIfHeld(volumeUuid)
      await this.#take(volumeUuid)
      await this.#withFile(volumeUuid, { continues: false }, async (file) => {
        await repairFileSystem({ uuid: volumeUuid, file, signal })
      })
    }
    await this.#turns.run(volumeUuid, 'repaired', { signal, work })
  }

  async remove(volumeUuid: string, signal?: AbortSignal): Promise<void> {
    this.#holds.refuseIfHeld(volumeUuid)
    const work = async (): Promise<void> => {
      this.#holds.refuseIfHeld(volumeUuid)
      await this.#remove(volumeUuid, signal)
    }
    await this.#turns.run(volumeUuid, 'erased', { signal, work })
  }

  async room(): Promise<VolumeRoom> {
    return await this.#counted(async () => await this.#room())
  }

  async heldFile(volumeUuid: string, instanceUuid: string): Promise<string | undefined> {
    const isHeld = this.#holds.isHeldBy(volumeUuid, instanceUuid)
    return await Promise.resolve(isHeld ? imagePath(this.#root, volumeUuid) : undefined)
  }

  async giveAway(volumeUuid: string, instanceUuid: string): Promise<void> {
    await this.#turns.run(volumeUuid, 'moved', {
      work: async () => {
        this.#holds.refuseIfHeld(volumeUuid, instanceUuid)
        await this.#refuseIfOpen(volumeUuid)
        await this.#retire(volumeUuid, Complete)
        this.#holds.forget(volumeUuid)
      },
    })
  }

  async beginArrival(volume: VolumeSize): Promise<string> {
    return await this.#moving(volume.uuid, async () => await this.#arrivals.begin(volume))
  }

  async finishArrival(volumeUuid: string, instanceUuid: string): Promise<void> {
    await this.#moving(volumeUuid, async () => await this.#arrivals.finish(volumeUuid, instanceUuid))
  }

  async cancelArrival(volumeUuid: string): Promise<void> {
    await this.#moving(volumeUuid, async () => await this.#arrivals.cancel(volumeUuid))
  }

  async arrived(): Promise<readonly string[]> {
    return await this.#arrivals.all()
  }

  async takeArrival(volumeUuid: string, { isHeld = false } = {}): Promise<void> {
    await this.#moving(volumeUuid, async () => {
      await this.#take(volumeUuid, isHeld)
      if (isHeld && !(await exists(this.#directory(volumeUuid)))) throw new Error(notArrived)
    })
  }

  async dropArrival(volumeUuid: string): Promise<void> {
    await this.#moving(volumeUuid, async () => await this.#arrivals.drop(volumeUuid))
  }

  async #moving<Result>(uuid: string, work: () => Promise<Result>): Promise<Result> {
    return await this.#turns.run(uuid, 'moved', { work })
  }

  /**
   * The UUIDs of all complete volumes that have a file, held or not. They are compared with those that the
   * platform knows.
   */
  async uuids(): Promise<readonly string[]> {
    const found = await stagedVolumes(this.#root)
    return found.filter(({ stage }) => stage === Complete).map(({ uuid }) => uuid)
  }

  async #make(volume: VolumeSize, signal: AbortSignal | undefined): Promise<void> {
    const { uuid } = volume
    const unfinished = stageDirectory(this.#root, { uuid, stage: New })
    if (await exists(this.#directory(uuid))) {
      // The agent that made this volume may have died before the volume's name was durable.
      await syncDirectory(this.#root)
      return
    }
    try {
      await removeDirectory(unfinished)
      const file = await this.#admit(volume, unfinished)
      try {
        await formatVolume(file, volume, signal)
        await file.sync()
      } finally {
        await file.close()
      }
      await syncDirectory(unfinished)
      await this.#counted(async () => await moveStage(this.#root, uuid, { from: New, to: Complete }))
    } catch (error) {
      // An unfinished volume takes room that another could have. If it can not be removed here, the next
      // `make` or the next agent tries again.
      await removeDirectory(unfinished).catch((cause: unknown) => {
        this.#onProblem(`an unfinished volume could not be removed: ${String(cause)}`)
      })
      throw asHostFull(error, 'for the volume')
    }
  }

  /**
   * Makes the volume's file, which is empty and as large as the volume. From then on the volume is counted.
   */
  async #admit(volume: VolumeSize, directory: string): Promise<FileHandle> {
    return await this.#counted(async () => {
      const { totalMb, promisedMb } = await this.#room()
      const leftMb = Math.max(0, totalMb - promisedMb)
      if (volume.sizeMb > leftMb) {
        const message = `the host has no room for a volume of ${volume.sizeMb} MB: ${leftMb} MB are left for volumes`
        throw new VolumeError('HostFull', message)
      }
      await makeDirectory(directory)
      const file = await open(path.join(directory, imageName), 'wx+', 0o600)
      try {
        await file.truncate(volume.sizeMb * mebibyte)
        await giveToOwner(file, volume.uuid)
        return file
      } catch (error) {
        await file.close()
        throw error
      }
    })
  }

  /** Reads the room for volumes. To be called within `#counted`. */
  async #room(): Promise<VolumeRoom> {
    const { promisedBytes, reserveBytes } = await this.#disk.figures(this.#root, this.#promise)
    return await readRoom(this.#root, { reserveBytes, othersBytes: promisedBytes })
  }

  /**
   * Runs `work` alone. Everything that counts volumes, adds one or changes a volume's name goes one after
   * another, so that each volume is counted exactly once.
   */
  async #counted<Result>(work: () => Promise<Result>): Promise<Result> {
    return await this.#disk.alone(work)
  }

  async #hold(
    { uuid, instanceUuid, readonly, continues }: VolumeHold,
    signal: AbortSignal | undefined,
  ): Promise<HeldVolume> {
    this.#holds.refuseIfHeld(uuid, instanceUuid)
    await this.#take(uuid)
    try {
      // If the hold continues, an earlier agent may have started the VM. Then the lock on the file belongs
      // to the VM.
      await this.#withFile(uuid, { continues }, async (file) => {
        if (!continues) await checkFileSystem({ uuid, file, signal })
      })
    } catch (error) {
      // No VM runs with the volume, and a repair must find it free.
      if (error instanceof VolumeError && error.failure === 'VolumeUnusable') await this.#holds.drop(uuid)
      throw error
    }
    signal?.throwIfAborted()
    await this.#holds.hold(uuid, instanceUuid)
    return { uuid, path: imagePath(this.#root, uuid), readonly }
  }

  async #withFile(
    uuid: string,
    { continues }: Pick<VolumeHold, 'continues'>,
    work: (file: FileHandle) => Promise<void>,
  ): Promise<void> {
    const file = await open(imagePath(this.#root, uuid), 'r+').catch((error: unknown) => {
      if (isMissing(error))
        throw new VolumeError('VolumeUnusable', 'the file of the volume is gone from the host', {
          cause: error,
        })
      throw error
    })
    try {
      if (!continues) await refuseIfLocked(file)
      // The file may come from a backup, or from an agent that was not root.
      await giveToOwner(file, uuid)
      await work(file)
    } finally {
      await file.close()
    }
  }

  async #remove(uuid: string, signal: AbortSignal | undefined): Promise<void> {
    await removeDirectory(stageDirectory(this.#root, { uuid, stage: New }))
    await this.#erase(uuid, signal)
    await this.#take(uuid)
    await this.#refuseIfOpen(uuid)
    const move = { from: Complete, to: Erasing }
    const moved = await this.#counted(async () => await moveStage(this.#root, uuid, move))
    if (moved) await this.#erase(uuid, signal)
  }

  async #take(uuid: string, isHeld = false): Promise<void> {
    if (!(await this.#arrivals.take(uuid))) return
    await this.#holds.read(uuid)
    if (!isHeld) await this.#holds.drop(uuid)
  }

  async #refuseIfOpen(uuid: string): Promise<void> {
    const file = await open(imagePath(this.#root, uuid), 'r').catch(unlessMissing)
    try {
      if (file !== undefined) await refuseIfLocked(file)
    } finally {
      await file?.close()
    }
  }

  /** Takes a volume out of its stage, if it is in it, and begins to erase it. */
  async #retire(uuid: string, from: VolumeStage): Promise<void> {
    if (!(await exists(stageDirectory(this.#root, { uuid, stage: from })))) return
    // There is one that was cut off only if the same volume came and went before.
    await this.#erase(uuid, undefined)
    await this.#counted(async () => await moveStage(this.#root, uuid, { from, to: Erasing }))
    this.#eraseSoon(uuid)
  }

  #eraseSoon(uuid: string): void {
    this.#unattended = Promise.all([this.#unattended, this.#eraseUnattended(uuid)])
  }

  async #erase(uuid: string, signal: AbortSignal | undefined): Promise<void> {
    const directory = stageDirectory(this.#root, { uuid, stage: Erasing })
    await eraseFile({ uuid, path: path.join(directory, imageName), signal })
    await removeDirectory(directory)
  }

  async #eraseUnattended(uuid: string): Promise<void> {
    const { signal } = this.#closing
    const work = async (): Promise<void> => {
      await this.#erase(uuid, signal)
    }
    const erased = this.#erasing.run(
      async () => await this.#turns.run(uuid, 'erased', { signal, work }),
      signal,
    )
    await erased.catch((error: unknown) => {
      if (!signal.aborted) this.#onProblem(`volume ${uuid} could not be erased yet: ${String(error)}`)
    })
  }

  #directory(uuid: string): string {
    return stageDirectory(this.#root, { uuid, stage: Complete })
  }
}

async function refuseIfLocked(file: FileHandle): Promise<void> {
  if (!(await isLocked(file))) return
  throw new VolumeError('VolumeInUse', 'a virtual machine or a check still has the file of the volume')
}

async function unwrittenBytes(root: string): Promise<number> {
  const { promisedBytes, allocatedBytes } = await readPromises(root)
  return promisedBytes - allocatedBytes
}

async function giveToOwner(file: FileHandle, uuid: string): Promise<void> {
  const owner = volumeOwner(uuid)
  if (owner !== undefined) await file.chown(owner, owner)
}
