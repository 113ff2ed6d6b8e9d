import path from 'node:path'
import {
  exists,
  imageName,
  moveStage,
  stageDirectory,
  stagedVolumes,
  syncDirectory,
  VolumeStage,
} from './volume-directory.ts'
import { writeHold } from './volume-holds.ts'
import { VolumeError } from './volumes.ts'
import type { VolumeSize } from './volumes.ts'

const { Arriving, Arrived, Complete } = VolumeStage

/**
 * Volumes that move here with their instances:
 *
 *   begin ──► arriving ──(finish: all of it is durable)──► arrived ──(take: its row names this host)──► complete
 *                │                                            │
 *                └── cancel, or the agent ended ► erased ◄────┴── drop: its row names another host
 *
 * Until the row names this host, the old host has the volume, and this is a copy. From then on this may be
 * the only one, and neither the agent nor the old host need know of it yet. So what arrived as a whole is
 * dropped only by whoever has asked the API.
 */
export class VolumeArrivals {
  readonly #root: string
  readonly #admit: (volume: VolumeSize, directory: string) => Promise<void>
  readonly #retire: (uuid: string, from: VolumeStage) => Promise<void>
  readonly #counted: (work: () => Promise<boolean>) => Promise<boolean>

  constructor(parts: {
    readonly root: string
    /** Makes the file of a volume in this directory, if there is room for it. */
    readonly admit: (volume: VolumeSize, directory: string) => Promise<void>
    /** Takes a volume out of a stage, if it is in it, and begins to erase it. */
    readonly retire: (uuid: string, from: VolumeStage) => Promise<void>
    readonly counted: (work: () => Promise<boolean>) => Promise<boolean>
  }) {
    this.#root = parts.root
    this.#admit = parts.admit
    this.#retire = parts.retire
    this.#counted = parts.counted
  }

  async begin(volume: VolumeSize): Promise<string> {
    const { uuid } = volume
    if (await exists(this.#directory(uuid, Complete)))
      throw new VolumeError('VolumeInUse', 'this host has a file of the volume already')
    await this.cancel(uuid)
    await this.drop(uuid)
    const directory = this.#directory(uuid, Arriving)
    await this.#admit(volume, directory)
    return path.join(directory, imageName)
  }

  async finish(uuid: string, instanceUuid: string): Promise<void> {
    const directory = this.#directory(uuid, Arriving)
    await writeHold(directory, instanceUuid)
    await syncDirectory(directory)
    await this.#counted(async () => await moveStage(this.#root, uuid, { from: Arriving, to: Arrived }))
  }

  /** Returns whether there was a volume to take. */
  async take(uuid: string): Promise<boolean> {
    if (!(await exists(this.#directory(uuid, Arrived)))) return false
    return await this.#counted(async () => await moveStage(this.#root, uuid, { from: Arrived, to: Complete }))
  }

  async cancel(uuid: string): Promise<void> {
    await this.#retire(uuid, Arriving)
  }

  async drop(uuid: string): Promise<void> {
    await this.#retire(uuid, Arrived)
  }

  async all(): Promise<readonly string[]> {
    const found = await stagedVolumes(this.#root)
    return found.filter(({ stage }) => stage === Arrived).map(({ uuid }) => uuid)
  }

  #directory(uuid: string, stage: VolumeStage): string {
    return stageDirectory(this.#root, { uuid, stage })
  }
}
