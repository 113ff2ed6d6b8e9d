import { HostFailure } from '../../domain/instance/host-work.ts'
import type { MovedVolume, VolumeEvent } from '../../domain/instance/host-work.ts'
import type { LaunchSpec, LaunchVolume } from '../../domain/host/api-protocol.ts'
import type { VmVolume } from '../vmm/vmm.ts'
import { VolumeError } from './volumes.ts'
import type { HeldVolume, VolumeHold, VolumeRoom, VolumeSize } from './volumes.ts'
import type { AgentPorts } from '../agent/agent-ports.ts'
import type { InstanceEntry } from '../instance/entry.ts'
import { asHostStartError } from '../instance/host-start-error.ts'
import { fetchedVolume } from '../instance/record.ts'
import { RemovedHere } from '../instance/removed-here.ts'

/**
 * How long a start, or the removal of a volume, waits for an instance that still holds the volume. A VM that
 * is being ended ends within a second or two. A VM that is written into a snapshot takes some seconds more.
 */
export const heldLimitMs = 15_000
/**
 * The pause between two tries. A killed process may keep its lock on the file a little longer than its hold,
 * and the end of a lock is not reported.
 */
const heldRetryMs = 500

/**
 * The volumes of this host, by the instances that hold them. The holds are on disk (`Volumes`). This object
 * keeps a copy of them, so that a start without a volume does not read the disk. A hold begins before the VM
 * starts. `release` ends it when there is neither a VM nor a memory that may continue.
 */
export class HostVolumes {
  readonly #ports: AgentPorts
  readonly #limitMs: number
  readonly #entries: ReadonlyMap<string, InstanceEntry>
  /** The UUID of the volume that an instance may hold, by the instance's UUID. */
  readonly #held = new Map<string, string>()
  /** The latest event that could not be sent to a volume's workflow yet, by the volume's UUID. */
  readonly #untold = new Map<string, VolumeEvent>()
  readonly #removed = new RemovedHere()
  readonly #waiting = new Set<() => void>()
  /** The number of releases. A caller that finds a volume held may have looked just before a release. */
  #releases = 0

  constructor(
    ports: AgentPorts,
    options: {
      readonly heldLimitMs?: number
      /** The instances of this host. */
      readonly entries?: ReadonlyMap<string, InstanceEntry>
    } = {},
  ) {
    this.#ports = ports
    this.#entries = options.entries ?? new Map()
    this.#limitMs = options.heldLimitMs ?? heldLimitMs
  }

  /** Reads the holds that an earlier agent wrote. To be called before everything else here. */
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
    // A held volume was complete when the hold was taken. If its file is missing now, its data is lost;
    // making an empty one would hide that.
    if (![...this.#held.values()].includes(volume.uuid)) await this.#ports.volumes.make(volume, signal)
  }

  /**
   * See `VolumeActivities.repairVolume`. An instance that was fetched with the volume, and is not taken yet,
   * counts as its holder: its memory may continue.
   */
  async repair(volumeUuid: string, signal: AbortSignal): Promise<void> {
    await this.#onceFree(signal, async () => {
      for (const { instanceUuid, record } of this.#entries.values())
        if (fetchedVolume(record) === volumeUuid)
          throw new VolumeError('VolumeInUse', `instance ${instanceUuid} waits for the volume`)
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
   * Gives an instance its volume, and makes the volume if it was not made yet. Releases another volume that
   * the instance held. Waits up to `heldLimitMs` for an instance that still holds the volume. With
   * `continues` a VM or a memory uses the volume already, so its file system is not checked; `checkAfresh`
   * checks it if the VM boots after all. If the volume is damaged, its workflow is told before this fails.
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

  /**
   * Releases the instance's volume. To be called when the instance has neither a VM nor a memory that may
   * continue.
   */
  async release(instanceUuid: string): Promise<void> {
    if (!this.#held.has(instanceUuid)) return
    await this.#ports.volumes.release(instanceUuid)
    this.#free(instanceUuid)
  }

  /**
   * Holds the volume of an instance that is to move, so that nobody else uses it meanwhile. Like a start,
   * this waits for another holder, and checks the file system unless a memory continues with it.
   */
  async holdForMove(
    { uuid, sizeMb }: MovedVolume,
    by: { readonly instanceUuid: string; readonly continues: boolean },
    signal: AbortSignal,
  ): Promise<void> {
    // `#held` names the volume after a hold that failed, too.
    if ((await this.#ports.volumes.heldFile(uuid, by.instanceUuid)) !== undefined) return
    await this.hold({ uuid, sizeMb, made: true, at: '', readonly: false }, by, signal)
  }

  /** The volume moved here with the instance, and both are this host's from now on. */
  async take(volumeUuid: string, instanceUuid: string): Promise<void> {
    this.#removed.delete(volumeUuid)
    this.#held.set(instanceUuid, volumeUuid)
    await this.#ports.volumes.takeArrival(volumeUuid, { isHeld: true })
  }

  /** The volume moved to another host with the instance. See `Volumes.giveAway`. */
  async giveAway(volumeUuid: string, instanceUuid: string): Promise<void> {
    await this.#ports.volumes.giveAway(volumeUuid, instanceUuid)
    this.#untold.delete(volumeUuid)
    if (this.#held.get(instanceUuid) === volumeUuid) this.#free(instanceUuid)
  }

  #free(instanceUuid: string): void {
    this.#held.delete(instanceUuid)
    this.#releases += 1
    for (const look of this.#waiting) look()
  }

  /** Writes the hold of a running instance again, if the hold was lost. */
  async claim(volume: Pick<VolumeHold, 'uuid' | 'instanceUuid' | 'readonly'>): Promise<void> {
    await this.#ports.volumes.hold({ ...volume, continues: true })
    this.#held.set(volume.instanceUuid, volume.uuid)
  }

  /** Sends the events again that the workflows could not be told. */
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
        // No memory can continue with the volume, and a repair has to find it free.
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

  /** Resolves at the next release, or after `limitMs`. */
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

  /** Tells the workflow in the background: no start waits for it. */
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
      log.warn({ volume: volumeUuid, err: error }, "a volume's workflow could not be told an event yet")
    }
  }
}

/**
 * The launch spec in the form in which it is kept for later starts. In it the volume is marked as made. If
 * the volume's file is missing at a later start, its data is lost; making an empty one would hide that.
 */
export function withVolumeMade(spec: LaunchSpec): LaunchSpec {
  return spec.volume === undefined ? spec : { ...spec, volume: { ...spec.volume, made: true } }
}

function isInUse(error: unknown): boolean {
  return error instanceof VolumeError && error.failure === 'VolumeInUse'
}
