import { HostFailure } from '../../domain/instance/host-work.ts'
import type { VolumeEvent } from '../../domain/instance/host-work.ts'
import type { LaunchSpec, LaunchVolume } from '../../domain/host/api-protocol.ts'
import type { VmVolume } from '../vmm/vmm.ts'
import { VolumeError } from './volumes.ts'
import type { HeldVolume, VolumeHold, VolumeRoom, VolumeSize } from './volumes.ts'
import type { AgentPorts } from '../agent/agent-ports.ts'
import { asHostStartError } from '../instance/host-start-error.ts'
import { RemovedHere } from '../instance/removed-here.ts'

/**
 * So long a start, or the end of a volume, waits for an instance that still has it: a VM that is ended is
 * gone within a second or two, one that writes its memory into a snapshot within some more.
 */
export const heldLimitMs = 15_000
/**
 * A process that was killed may keep its lock on the file a little longer than its hold; nobody tells of
 * that.
 */
const heldRetryMs = 500

/**
 * The volumes of this host as its instances have them. Which instance holds which is on disk (`Volumes`);
 * here is a copy, so that a start without a volume asks nobody. A hold begins before there is a VM and ends,
 * by `release`, when there is neither a VM nor a memory that goes on.
 */
export class HostVolumes {
  readonly #ports: AgentPorts
  readonly #limitMs: number
  /** By instance: the volume that it may hold. */
  readonly #held = new Map<string, string>()
  /** What a volume's workflow could not be told yet, by volume; the latest counts. */
  readonly #untold = new Map<string, VolumeEvent>()
  readonly #removed = new RemovedHere()
  readonly #waiting = new Set<() => void>()
  /** Grows with every release: who finds a volume held may have looked just before one. */
  #releases = 0

  constructor(ports: AgentPorts, options: { readonly heldLimitMs?: number } = {}) {
    this.#ports = ports
    this.#limitMs = options.heldLimitMs ?? heldLimitMs
  }

  /** What the agent before this one wrote down; before anything else is asked here. */
  async open(): Promise<void> {
    for (const { volumeUuid, instanceUuid } of await this.#ports.volumes.holds())
      this.#held.set(instanceUuid, volumeUuid)
  }

  /** Every instance that may hold a volume. */
  holders(): readonly string[] {
    return [...this.#held.keys()]
  }

  heldBy(instanceUuid: string): string | undefined {
    return this.#held.get(instanceUuid)
  }

  /** See `VolumeActivities.makeVolume`. */
  async make(volume: VolumeSize, signal: AbortSignal): Promise<void> {
    // Whoever holds it found it complete: what is not there any more is lost, and not to be made anew.
    if (![...this.#held.values()].includes(volume.uuid)) await this.#ports.volumes.make(volume, signal)
  }

  /** See `VolumeActivities.repairVolume`. */
  async repair(volumeUuid: string, signal: AbortSignal): Promise<void> {
    await this.#onceFree(signal, async () => {
      await this.#ports.volumes.repair(volumeUuid, signal)
    })
  }

  /** See `VolumeActivities.removeVolume`. */
  async remove(volumeUuid: string, signal: AbortSignal): Promise<void> {
    this.#removed.add(volumeUuid)
    await this.#onceFree(signal, async () => {
      await this.#ports.volumes.remove(volumeUuid, signal)
    })
    this.#untold.delete(volumeUuid)
  }

  /**
   * Gives an instance its volume, made where that is still to be done; whatever else it held is free. Waits,
   * bounded, for an instance that still has it. `continues`: a VM or a memory has it already, so its file
   * system is left alone; a VM that begins afresh all the same has it checked by `checkAfresh`. Of damage the
   * volume's workflow hears before this fails.
   */
  async hold(
    volume: LaunchVolume,
    by: { readonly instanceUuid: string; readonly continues: boolean },
    signal: AbortSignal,
  ): Promise<VmVolume> {
    const { uuid, sizeMb, readonly, at } = volume
    const { instanceUuid, continues } = by
    const before = this.#held.get(instanceUuid)
    if (before !== undefined && before !== uuid) await this.release(instanceUuid)
    const wanted = { uuid, instanceUuid, readonly }
    const held = await this.#onceFree(signal, async () => {
      if (!volume.made && !continues) {
        if (this.#removed.has(uuid)) throw new VolumeError('VolumeUnusable', 'the volume is deleted')
        await this.#ports.volumes.make({ uuid, sizeMb }, signal)
        this.#tellSoon(uuid, { kind: 'made' })
      }
      return await this.#hold({ ...wanted, continues }, signal)
    })
    if (!continues) return { ...held, at }
    return {
      ...held,
      at,
      checkAfresh: async (starting) => {
        await this.#hold({ ...wanted, continues: false }, starting)
      },
    }
  }

  /** The instance has neither a VM nor a memory that goes on. */
  async release(instanceUuid: string): Promise<void> {
    if (!this.#held.has(instanceUuid)) return
    await this.#ports.volumes.release(instanceUuid)
    this.#held.delete(instanceUuid)
    this.#releases += 1
    for (const look of this.#waiting) look()
  }

  /** What runs has the volume, whatever became of its hold. */
  async claim(volume: Pick<VolumeHold, 'uuid' | 'instanceUuid' | 'readonly'>): Promise<void> {
    await this.#ports.volumes.hold({ ...volume, continues: true })
    this.#held.set(volume.instanceUuid, volume.uuid)
  }

  /** Tells again what could not be told. */
  async tellUntold(): Promise<void> {
    for (const [volumeUuid, event] of this.#untold) await this.#tell(volumeUuid, event)
  }

  async room(): Promise<VolumeRoom> {
    return await this.#ports.volumes.room()
  }

  async #hold(wanted: VolumeHold, signal: AbortSignal): Promise<HeldVolume> {
    const { uuid, instanceUuid } = wanted
    this.#held.set(instanceUuid, uuid)
    try {
      return await this.#ports.volumes.hold(wanted, signal)
    } catch (error) {
      if (asHostStartError(error).failure === HostFailure.VolumeUnusable) {
        await this.#tell(uuid, { kind: 'damaged', reason: (error as Error).message })
        // Nothing can go on with it, and a repair has to find it free.
        await this.release(instanceUuid)
      }
      throw error
    }
  }

  async #onceFree<T>(signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    const deadlineMs = performance.now() + this.#limitMs
    for (;;) {
      const seen = this.#releases
      try {
        signal.throwIfAborted()
        return await task()
      } catch (error) {
        const leftMs = deadlineMs - performance.now()
        if (!isInUse(error) || leftMs <= 0) throw error
        if (seen === this.#releases) await this.#released(Math.min(leftMs, heldRetryMs), signal)
      }
    }
  }

  /** Resolves with the next release, or when the time is over. */
  async #released(limitMs: number, signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const look = (): void => {
        clearTimeout(timer)
        this.#waiting.delete(look)
        signal.removeEventListener('abort', look)
        resolve()
      }
      const timer = setTimeout(look, limitMs)
      this.#waiting.add(look)
      signal.addEventListener('abort', look)
    })
    signal.throwIfAborted()
  }

  /** No start waits for that. */
  #tellSoon(volumeUuid: string, event: VolumeEvent): void {
    void this.#tell(volumeUuid, event)
  }

  async #tell(volumeUuid: string, event: VolumeEvent): Promise<void> {
    const { log, volumeEvents } = this.#ports
    this.#untold.set(volumeUuid, event)
    try {
      await volumeEvents.tell(volumeUuid, event)
      if (this.#untold.get(volumeUuid) === event) this.#untold.delete(volumeUuid)
    } catch (error) {
      log.warn({ volume: volumeUuid, err: error }, 'what became of a volume could not be told yet')
    }
  }
}

/**
 * For a copy that is kept: should the volume be gone when that is used, it is lost, and not to be made anew.
 */
export function withVolumeMade(spec: LaunchSpec): LaunchSpec {
  return spec.volume === undefined ? spec : { ...spec, volume: { ...spec.volume, made: true } }
}

function isInUse(error: unknown): boolean {
  return error instanceof VolumeError && error.failure === 'VolumeInUse'
}
