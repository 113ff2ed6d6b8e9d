import { readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { replaceFile } from '../../primitives/replace-file.ts'
import {
  asHostFull,
  isMissing,
  stageDirectory,
  stagedVolumes,
  syncDirectory,
  VolumeStage,
} from './volume-directory.ts'
import { VolumeError } from './volumes.ts'

interface HoldRecord {
  readonly schemaVersion: 1
  readonly instanceUuid: string
}

const holdName = 'hold.json'
/**
 * The holder that is assumed if a hold can not be read, so that the volume counts as held. No instance has
 * this UUID.
 */
const unknownHolder = 'unknown'

/**
 * The record of which instance holds which volume. A hold is on disk before it counts. A copy in memory
 * makes reads fast.
 */
export class VolumeHolds {
  readonly #root: string
  readonly #holders = new Map<string, string>()

  constructor(root: string) {
    this.#root = root
  }

  /** Reads the holds that an earlier agent wrote. */
  async open(): Promise<void> {
    for (const { uuid, stage } of await stagedVolumes(this.#root)) {
      if (stage !== VolumeStage.Complete) continue
      await this.read(uuid)
    }
  }

  all(): readonly { readonly volumeUuid: string; readonly instanceUuid: string }[] {
    return [...this.#holders].map(([volumeUuid, instanceUuid]) => ({ volumeUuid, instanceUuid }))
  }

  /** Throws if another instance than `by` holds the volume. */
  refuseIfHeld(uuid: string, by?: string): void {
    const holder = this.#holders.get(uuid)
    if (holder === undefined || holder === by) return
    throw new VolumeError('VolumeInUse', `instance ${holder} still has the volume`)
  }

  isHeldBy(uuid: string, instanceUuid: string): boolean {
    return this.#holders.get(uuid) === instanceUuid
  }

  async hold(uuid: string, instanceUuid: string): Promise<void> {
    if (this.#holders.get(uuid) === instanceUuid) return
    await writeHold(this.#directory(uuid), instanceUuid)
    this.#holders.set(uuid, instanceUuid)
  }

  /** The volume is complete from now on, with the hold in its directory. */
  async read(uuid: string): Promise<void> {
    const holder = await readHolder(path.join(this.#directory(uuid), holdName))
    if (holder !== undefined) this.#holders.set(uuid, holder)
  }

  /** The volume is complete no more, and its directory has another name. */
  forget(uuid: string): void {
    this.#holders.delete(uuid)
  }

  async release(instanceUuid: string): Promise<void> {
    for (const [uuid, holder] of this.#holders) if (holder === instanceUuid) await this.drop(uuid)
  }

  async drop(uuid: string): Promise<void> {
    if (!this.#holders.has(uuid)) return
    const directory = this.#directory(uuid)
    await rm(path.join(directory, holdName), { force: true })
    await syncDirectory(directory).catch((error: unknown) => {
      // If the directory does not exist, the hold does not exist either.
      if (!isMissing(error)) throw error
    })
    this.#holders.delete(uuid)
  }

  #directory(uuid: string): string {
    return stageDirectory(this.#root, { uuid, stage: VolumeStage.Complete })
  }
}

/** Writes down durably who has the volume in that directory. */
export async function writeHold(directory: string, instanceUuid: string): Promise<void> {
  const record: HoldRecord = { schemaVersion: 1, instanceUuid }
  try {
    await writeDurably(path.join(directory, holdName), JSON.stringify(record))
  } catch (error) {
    throw asHostFull(error, 'to write down who has the volume')
  }
}

async function readHolder(file: string): Promise<string | undefined> {
  try {
    const record = JSON.parse(await readFile(file, 'utf8')) as Partial<HoldRecord> | null
    return typeof record?.instanceUuid === 'string' ? record.instanceUuid : unknownHolder
  } catch (error) {
    if (isMissing(error)) return undefined
    if (error instanceof SyntaxError) return unknownHolder
    throw error
  }
}

/** Writes a file. Even after a power loss it has either the old content or the new one. */
async function writeDurably(file: string, text: string): Promise<void> {
  await replaceFile(file, text, { mode: 0o600, durable: true })
  await syncDirectory(path.dirname(file))
}
