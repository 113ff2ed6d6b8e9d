import { VolumeError } from '../volumes/volumes.ts'
import type { HeldVolume, VolumeHold, VolumeRoom, Volumes, VolumeSize } from '../volumes/volumes.ts'

type Call = 'make' | 'hold' | 'release' | 'repair' | 'remove'

export interface FakeVolumesFaults {
  /** The nth call (from 1) of each kind fails, as when a host's disk or tool fails. */
  readonly fail?: Partial<Record<Call, number>>
  /** Calls of these kinds last until their signal is aborted. */
  readonly hang?: readonly Call[]
  /** What all volumes may promise together. */
  readonly totalMb?: number
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
  }

  async hold(hold: VolumeHold, signal?: AbortSignal): Promise<HeldVolume> {
    const { uuid, instanceUuid, readonly, continues } = hold
    this.#refuseIfHeld(uuid, instanceUuid)
    await this.#begin('hold', uuid, signal)
    this.#refuseIfHeld(uuid, instanceUuid)
    if (!this.made.has(uuid) || this.gone.has(uuid)) this.#unusable(uuid, 'the file of the volume is gone')
    if (!continues) {
      this.checked.push(uuid)
      if (this.damaged.has(uuid) || this.hopeless.has(uuid))
        this.#unusable(uuid, 'the file system of the volume is damaged')
    }
    this.held.set(uuid, instanceUuid)
    return { uuid, readonly }
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
    if (!this.made.has(volumeUuid) || this.gone.has(volumeUuid))
      this.#unusable(volumeUuid, 'the file of the volume is gone')
    if (this.hopeless.has(volumeUuid))
      this.#unusable(volumeUuid, 'the file system of the volume can not be repaired')
    this.damaged.delete(volumeUuid)
  }

  async remove(volumeUuid: string, signal?: AbortSignal): Promise<void> {
    this.#refuseIfHeld(volumeUuid)
    await this.#begin('remove', volumeUuid, signal)
    for (const kept of [this.made, this.damaged, this.hopeless, this.gone]) kept.delete(volumeUuid)
  }

  async room(): Promise<VolumeRoom> {
    return await Promise.resolve(this.#room())
  }

  #room(): VolumeRoom {
    const totalMb = this.#faults.totalMb ?? 1_048_576
    let promisedMb = 0
    for (const { sizeMb } of this.made.values()) promisedMb += sizeMb
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

async function untilAborted(signal: AbortSignal | undefined): Promise<never> {
  return await new Promise((_resolve, reject) => {
    signal?.addEventListener('abort', () => {
      reject(signal.reason as Error)
    })
  })
}
