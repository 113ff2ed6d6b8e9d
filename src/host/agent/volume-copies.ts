import { setTimeout as delay } from 'node:timers/promises'
import type { MoveActivities, MovedVolume } from '../../domain/instance/host-work.ts'
import { FairSemaphore } from '../../primitives/fair-semaphore.ts'
import { TransferError, transfersAtOnce, transfersPerHost } from '../moves/transfers.ts'
import type { Transfers } from '../moves/transfers.ts'
import type { AgentPorts } from './agent-ports.ts'
import type { MovingVolumes } from './moving-volumes.ts'

export type CopyInput = Parameters<MoveActivities['copyVolume']>[0]

/** How long a fetch waits for the end of a copy, of which the old host says that it is whole. */
const endLimitMs = 30_000
/** How long a copy that has all is kept for a fetch. */
const keepLimitMs = 900_000
const mebibyte = 1024 * 1024

interface Copy {
  readonly input: CopyInput
  readonly controller: AbortController
  /** Resolves with the name of the copy when all of it is here. */
  readonly arrival: Promise<string>
  timer?: NodeJS.Timeout
}

/**
 * The volumes that this host copies while the VMs of their instances run at another host; see
 * `MoveActivities.copyVolume`. A copy is among the arrivals of volumes that were begun. `InstanceFetch` takes
 * it if the old host says that it is whole, or begins the arrival anew.
 */
export class VolumeCopies {
  readonly #ports: AgentPorts
  readonly #volumes: MovingVolumes
  /** Not those of fetches: the instance of a fetch waits, and a copy may take hours. */
  readonly #turns = new FairSemaphore({ size: transfersAtOnce, perUser: transfersPerHost })
  readonly #isFetching: (input: CopyInput) => boolean
  readonly #keepMs: number
  readonly #copies = new Map<string, Copy>()

  constructor(parts: {
    readonly ports: AgentPorts
    readonly volumes: MovingVolumes
    /** Whether the instance or the volume is being fetched. */
    readonly isFetching: (input: CopyInput) => boolean
    readonly keepMs?: number | undefined
  }) {
    this.#ports = parts.ports
    this.#volumes = parts.volumes
    this.#isFetching = parts.isFetching
    this.#keepMs = parts.keepMs ?? keepLimitMs
  }

  /** Resolves when the copy has all, and follows. An earlier copy of the volume is called off. */
  async copy(input: CopyInput, transfers: Transfers): Promise<void> {
    const { volume } = input
    while (this.#copies.has(volume.uuid)) await this.callOff(volume.uuid)
    // There is no `await` from here to the entry in `#copies`, so a fetch finds the copy from its beginning.
    if (this.#isFetching(input)) throw new TransferError('the instance is being fetched already')
    const controller = new AbortController()
    const turn = this.#begin(input, transfers, controller.signal)
    const copy: Copy = { input, controller, arrival: turn.then(async ({ arrival }) => await arrival) }
    this.#copies.set(volume.uuid, copy)
    copy.arrival.catch(() => this.#forget(copy))
    await turn
    this.#dropLater(copy)
  }

  /** Ends a copy. Resolves when nothing of it is written any more, and nothing is left. */
  async callOff(volumeUuid: string, of?: Pick<CopyInput, 'instanceUuid' | 'boot'>): Promise<void> {
    const copy = this.#copies.get(volumeUuid)
    if (copy === undefined || (of !== undefined && !isOf(copy.input, of))) return
    copy.controller.abort()
    const isWhole = await copy.arrival.then(
      () => true,
      () => false,
    )
    if (this.#copies.get(volumeUuid) !== copy) return
    this.#forget(copy)
    if (isWhole) await this.#ports.volumes.cancelArrival(volumeUuid)
  }

  /**
   * Whether all of the volume is here as the copy with this name, so that it need not be fetched. If not, a
   * copy that is under way is called off.
   */
  async takeOver({ uuid }: MovedVolume, copyUuid: string | undefined, signal: AbortSignal): Promise<boolean> {
    const copy = this.#copies.get(uuid)
    if (copy === undefined) return false
    const noName = async () => await delay(endLimitMs, undefined, { ref: false, signal })
    const name = copyUuid && (await Promise.race([copy.arrival, noName()]).catch(() => undefined))
    if (name !== undefined && name === copyUuid && this.#copies.get(uuid) === copy) {
      this.#forget(copy)
      return true
    }
    await this.callOff(uuid)
    return false
  }

  /** Waits for a turn. The turn ends when the copy only follows. */
  async #begin(
    input: CopyInput,
    transfers: Transfers,
    signal: AbortSignal,
  ): Promise<{ readonly arrival: Promise<string> }> {
    const { volume, from, instanceUuid } = input
    return await this.#turns.run(from.address, signal, async () => {
      await this.#volumes.requireArrivable(volume, instanceUuid)
      // What arrived as a whole may be the only copy.
      if ((await this.#ports.volumes.arrived()).includes(volume.uuid))
        throw new TransferError('the volume has arrived already')
      signal.throwIfAborted()
      const isReady = Promise.withResolvers<void>()
      const arrival = this.#arrive(input, transfers, isReady.resolve, signal)
      await Promise.race([isReady.promise, arrival])
      return { arrival }
    })
  }

  /** Nobody tells this host if the instance does not come after all. */
  #dropLater(copy: Copy): void {
    const { input } = copy
    copy.timer = setTimeout(() => {
      if (this.#copies.get(input.volume.uuid) !== copy) return
      if (this.#isFetching(input)) this.#dropLater(copy)
      else
        this.callOff(input.volume.uuid).catch((error: unknown) => {
          this.#ports.log.warn({ volume: input.volume.uuid, err: error }, 'a copy could not be dropped')
        })
    }, this.#keepMs).unref()
  }

  async #arrive(
    { instanceUuid, from, volume }: CopyInput,
    transfers: Transfers,
    onReady: () => void,
    signal: AbortSignal,
  ): Promise<string> {
    const { volumes, log } = this.#ports
    const about = { volume: volume.uuid, from: from.nodeId }
    const began = performance.now()
    const noteReady = () => {
      const ms = Math.round(performance.now() - began)
      log.info({ ...about, ms }, 'a volume was copied while its VM runs, and what that writes follows')
      onReady()
    }
    try {
      const path = await volumes.beginArrival(volume)
      const wanted = { from, instanceUuid, bytes: volume.sizeMb * mebibyte, path, onReady: noteReady }
      const copyUuid = await transfers.followVolume(wanted, signal)
      log.info(about, 'a volume that was copied while its VM ran is whole')
      return copyUuid
    } catch (error) {
      log.info({ ...about, err: error }, 'nothing is left of the copy of a volume')
      await volumes.cancelArrival(volume.uuid).catch(() => undefined)
      throw error
    }
  }

  #forget(copy: Copy): void {
    clearTimeout(copy.timer)
    const { uuid } = copy.input.volume
    if (this.#copies.get(uuid) === copy) this.#copies.delete(uuid)
  }
}

function isOf(input: CopyInput, { instanceUuid, boot }: Pick<CopyInput, 'instanceUuid' | 'boot'>): boolean {
  return input.instanceUuid === instanceUuid && input.boot === boot
}
