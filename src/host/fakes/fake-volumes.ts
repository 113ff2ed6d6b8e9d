import { mkdirSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { VolumeError } from '../volumes/volumes.ts'
import type { HeldVolume, VolumeHold, VolumeRoom, Volumes, VolumeSize } from '../volumes/volumes.ts'

type Call =
  | 'make'
  | 'hold'
  | 'release'
  | 'repair'
  | 'remove'
  | 'giveAway'
  | 'beginArrival'
  | 'finishArrival'
  | 'cancelArrival'
  | 'takeArrival'
  | 'dropArrival'

const mebibyte = 1024 * 1024

export interface FakeVolumesFaults {
  /** The nth call (from 1) of each kind fails, as when a host's disk or tool fails. */
  readonly fail?: Partial<Record<Call, number>>
  /** Calls of these kinds last until their signal is aborted. */
  readonly hang?: readonly Call[]
  /** What all volumes may promise together. */
  readonly totalMb?: number
  /** Where the content of volumes is, for tests in which they move. Absent: they have none. */
  readonly directory?: string
}

/**
 * Volumes in memory. Like a host's disk they outlive the agents of a test, if the test hands the same object
 * to the next agent.
 */
export class FakeVolumes implements Volumes {
  readonly made = new Map<string, { readonly sizeMb: number }>()
  readonly held = new Map<string, string>()
  /** Volumes whose file system a check can not mend, but a repair can. */
  readonly damaged = new Set<string>()
  /** Volumes whose file system a repair can not mend either. */
  readonly hopeless = new Set<string>()
  /** Volumes that were made, but whose file is missing now. */
  readonly gone = new Set<string>()
  /** Volumes that are being fetched, and those that were fetched and wait, with their instances. */
  readonly arriving = new Map<string, { readonly sizeMb: number }>()
  readonly waiting = new Map<string, { readonly sizeMb: number; readonly instanceUuid: string }>()
  /** Volumes whose content was overwritten because another host has them, in order. */
  readonly overwritten: string[] = []
  readonly calls: string[] = []
  /** Volumes that were checked by `hold`, in order. */
  readonly checked: string[] = []
  readonly #faults: FakeVolumesFaults
  readonly #counts = new Map<Call, number>()

  constructor(faults: FakeVolumesFaults = {}) {
    this.#faults = faults
  }

  async make({ uuid, sizeMb }: VolumeSize, signal?: AbortSignal): Promise<void> {
    await this.#begin('make', uuid, signal)
    if (this.made.has(uuid)) return
    const { totalMb, promisedMb } = this.#room()
    if (promisedMb + sizeMb > totalMb) {
      throw new VolumeError(
        'HostFull',
        `the host has no room for ${sizeMb} MB: ${totalMb - promisedMb} MB are left`,
      )
    }
    this.made.set(uuid, { sizeMb })
    if (this.#faults.directory !== undefined) this.#makeFile(this.contentOf(uuid), sizeMb)
  }

  async hold(hold: VolumeHold, signal?: AbortSignal): Promise<HeldVolume> {
    const { uuid, instanceUuid, readonly, continues } = hold
    this.#refuseIfHeld(uuid, instanceUuid)
    await this.#begin('hold', uuid, signal)
    this.#refuseIfHeld(uuid, instanceUuid)
    this.#take(uuid)
    if (!this.made.has(uuid) || this.gone.has(uuid)) this.#unusable(uuid, 'the file of the volume is gone')
    if (!continues) {
      this.checked.push(uuid)
      if (this.damaged.has(uuid) || this.hopeless.has(uuid))
        this.#unusable(uuid, 'the file system of the volume is damaged')
    }
    this.held.set(uuid, instanceUuid)
    return { uuid, readonly, ...(this.#faults.directory !== undefined && { path: this.contentOf(uuid) }) }
  }

  async release(instanceUuid: string): Promise<void> {
    await this.#begin('release', instanceUuid)
    for (const [uuid, holder] of this.held) if (holder === instanceUuid) this.held.delete(uuid)
  }

  async holds(): Promise<readonly { readonly volumeUuid: string; readonly instanceUuid: string }[]> {
    return await Promise.resolve(
      [...this.held].map(([volumeUuid, instanceUuid]) => ({ volumeUuid, instanceUuid })),
    )
  }

  async repair(volumeUuid: string, signal?: AbortSignal): Promise<void> {
    this.#refuseIfHeld(volumeUuid)
    await this.#begin('repair', volumeUuid, signal)
    this.#take(volumeUuid)
    if (!this.made.has(volumeUuid) || this.gone.has(volumeUuid))
      this.#unusable(volumeUuid, 'the file of the volume is gone')
    if (this.hopeless.has(volumeUuid))
      this.#unusable(volumeUuid, 'the file system of the volume can not be repaired')
    this.damaged.delete(volumeUuid)
  }

  async remove(volumeUuid: string, signal?: AbortSignal): Promise<void> {
    this.#refuseIfHeld(volumeUuid)
    await this.#begin('remove', volumeUuid, signal)
    this.#take(volumeUuid)
    for (const kept of [this.made, this.damaged, this.hopeless, this.gone]) kept.delete(volumeUuid)
  }

  /** The file with the content of a volume. */
  contentOf(uuid: string): string {
    const { directory } = this.#faults
    if (directory === undefined) throw new Error('these volumes have no content')
    return path.join(directory, uuid)
  }

  async heldFile(volumeUuid: string, instanceUuid: string): Promise<string | undefined> {
    const isHere = this.#faults.directory !== undefined && this.made.has(volumeUuid)
    const isHeld = this.held.get(volumeUuid) === instanceUuid
    return await Promise.resolve(isHere && isHeld ? this.contentOf(volumeUuid) : undefined)
  }

  async giveAway(volumeUuid: string, instanceUuid: string): Promise<void> {
    await this.#begin('giveAway', volumeUuid)
    this.#refuseIfHeld(volumeUuid, instanceUuid)
    if (this.made.delete(volumeUuid)) this.#overwrite(volumeUuid, this.contentOf(volumeUuid))
    this.held.delete(volumeUuid)
  }

  async beginArrival({ uuid, sizeMb }: VolumeSize): Promise<string> {
    await this.#begin('beginArrival', uuid)
    if (this.made.has(uuid))
      throw new VolumeError('VolumeInUse', 'this host has a file of the volume already')
    this.#drop(this.arriving, uuid)
    this.#drop(this.waiting, uuid)
    const { totalMb, promisedMb } = this.#room()
    if (promisedMb + sizeMb > totalMb)
      throw new VolumeError('HostFull', 'the host has no room for the volume')
    this.arriving.set(uuid, { sizeMb })
    const file = arrivalOf(this.contentOf(uuid))
    this.#makeFile(file, sizeMb)
    return file
  }

  async finishArrival(uuid: string, instanceUuid: string): Promise<void> {
    await this.#begin('finishArrival', uuid)
    const arriving = this.arriving.get(uuid)
    if (arriving === undefined) throw new Error('nothing arrives')
    this.arriving.delete(uuid)
    this.waiting.set(uuid, { ...arriving, instanceUuid })
  }

  async cancelArrival(uuid: string): Promise<void> {
    await this.#begin('cancelArrival', uuid)
    this.#drop(this.arriving, uuid)
  }

  async arrived(): Promise<readonly string[]> {
    return await Promise.resolve([...this.waiting.keys()])
  }

  async takeArrival(uuid: string, { isHeld = false } = {}): Promise<void> {
    await this.#begin('takeArrival', uuid)
    const instanceUuid = this.#take(uuid)
    if (isHeld && !this.made.has(uuid)) throw new Error('the volume that moves to this host is not here')
    if (isHeld && instanceUuid !== undefined) this.held.set(uuid, instanceUuid)
  }

  async dropArrival(uuid: string): Promise<void> {
    await this.#begin('dropArrival', uuid)
    this.#drop(this.waiting, uuid)
  }

  #take(uuid: string): string | undefined {
    const arrived = this.waiting.get(uuid)
    if (arrived === undefined) return undefined
    renameSync(arrivalOf(this.contentOf(uuid)), this.contentOf(uuid))
    this.waiting.delete(uuid)
    this.made.set(uuid, { sizeMb: arrived.sizeMb })
    return arrived.instanceUuid
  }

  #drop(from: Map<string, unknown>, uuid: string): void {
    if (from.delete(uuid)) this.#overwrite(uuid, arrivalOf(this.contentOf(uuid)))
  }

  #overwrite(uuid: string, file: string): void {
    rmSync(file, { force: true })
    this.overwritten.push(uuid)
  }

  #makeFile(file: string, sizeMb: number): void {
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, '')
    truncateSync(file, sizeMb * mebibyte)
  }

  async uuids(): Promise<readonly string[]> {
    return await Promise.resolve([...this.made.keys()].filter((uuid) => !this.gone.has(uuid)))
  }

  async room(): Promise<VolumeRoom> {
    return await Promise.resolve(this.#room())
  }

  #room(): VolumeRoom {
    const totalMb = this.#faults.totalMb ?? 1_048_576
    let promisedMb = 0
    for (const some of [this.made, this.arriving, this.waiting])
      for (const { sizeMb } of some.values()) promisedMb += sizeMb
    return { volumes: this.made.size, totalMb, promisedMb, freeMb: totalMb, diskMb: totalMb }
  }

  async #begin(call: Call, of: string, signal?: AbortSignal): Promise<void> {
    this.calls.push(`${call} ${of}`)
    signal?.throwIfAborted()
    const count = (this.#counts.get(call) ?? 0) + 1
    this.#counts.set(call, count)
    if (count === this.#faults.fail?.[call]) throw new Error(`${call} ${String(count)} fails as asked`)
    if (this.#faults.hang?.includes(call) === true) await untilAborted(signal)
  }

  #refuseIfHeld(uuid: string, by?: string): void {
    const holder = this.held.get(uuid)
    if (holder !== undefined && holder !== by)
      throw new VolumeError('VolumeInUse', `instance ${holder} still has the volume`)
  }

  #unusable(uuid: string, reason: string): never {
    this.held.delete(uuid)
    throw new VolumeError('VolumeUnusable', reason)
  }
}

export function arrivalOf(content: string): string {
  return `${content}.arriving`
}

async function untilAborted(signal: AbortSignal | undefined): Promise<never> {
  return await new Promise((_resolve, reject) => {
    signal?.addEventListener('abort', () => {
      reject(signal.reason as Error)
    })
  })
}
