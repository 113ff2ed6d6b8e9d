import { setTimeout as delay } from 'node:timers/promises'
import type { MoveActivities, MovedVolume } from '../../domain/instance/host-work.ts'
import type { FairSemaphore } from '../../primitives/fair-semaphore.ts'
import { TransferError } from '../moves/transfers.ts'
import type { Transfers } from '../moves/transfers.ts'
import type { AgentPorts } from './agent-ports.ts'
import type { MovingVolumes } from './moving-volumes.ts'

export type CopyInput = Parameters<MoveActivities['copyVolume']>[0]

/** How long a fetch waits for the end of a copy, of which the old host says that it is whole. */
const endLimitMs = 30_000
const mebibyte = 1024 * 1024

interface Copy {
  readonly input: CopyInput
  readonly controller: AbortController
  /** Resolves with the name of the copy when all of it is here. */
  readonly arrival: Promise<string>
}

/**
 * The volumes that this host copies while the VMs of their instances run at another host; see
 * `MoveActivities.copyVolume`. A copy is among the arrivals of volumes that were begun. `InstanceFetch` takes
 * it if the old host says that it is whole, or begins the arrival anew.
 */
export class VolumeCopies {
  readonly #ports: AgentPorts
  readonly #volumes: MovingVolumes
  readonly #turns: FairSemaphore
  readonly #isFetching: (input: CopyInput) => boolean
  readonly #copies = new Map<string, Copy>()

  constructor(parts: {
    readonly ports: AgentPorts
    readonly volumes: MovingVolumes
    /** The turns of all that this host fetches. */
    readonly turns: FairSemaphore
    /** Whether the instance or the volume is being fetched. */
    readonly isFetching: (input: CopyInput) => boolean
  }) {
    this.#ports = parts.ports
    this.#volumes = parts.volumes
    this.#turns = parts.turns
    this.#isFetching = parts.isFetching
  }

  /** Resolves when the copy has all, and follows. An earlier copy of the volume is called off. */
  async copy(input: CopyInput, transfers: Transfers): Promise<void> {
    const { volume, from, instanceUuid } = input
    await this.#volumes.requireArrivable(volume, instanceUuid)
    while (this.#copies.has(volume.uuid)) await this.callOff(volume.uuid)
    // There is no `await` from here to the entry in `#copies`, so one of several calls copies.
    if (this.#isFetching(input)) throw new TransferError('the instance is being fetched already')
    const controller = new AbortController()
    const { signal } = controller
    const turn = this.#turns.run(from.address, signal, async () => {
      const isReady = Promise.withResolvers<void>()
      const arrival = this.#arrive(input, transfers, isReady.resolve, signal)
      await Promise.race([isReady.promise, arrival])
      return { arrival }
    })
    const copy = { input, controller, arrival: turn.then(async ({ arrival }) => await arrival) }
    this.#copies.set(volume.uuid, copy)
    copy.arrival.catch(() => this.#forget(volume.uuid, copy))
    await turn
  }

  /** Ends a copy that is under way. Resolves when nothing more of it is written. */
  async callOff(volumeUuid: string, of?: Pick<CopyInput, 'instanceUuid' | 'boot'>): Promise<void> {
    const copy = this.#copies.get(volumeUuid)
    if (copy === undefined || (of !== undefined && !isOf(copy.input, of))) return
    copy.controller.abort()
    await copy.arrival.catch(() => undefined)
    this.#forget(volumeUuid, copy)
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
    if (name !== undefined && name === copyUuid) {
      this.#forget(uuid, copy)
      return true
    }
    await this.callOff(uuid)
    return false
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

  #forget(volumeUuid: string, copy: Copy): void {
    if (this.#copies.get(volumeUuid) === copy) this.#copies.delete(volumeUuid)
  }
}

function isOf(input: CopyInput, { instanceUuid, boot }: Pick<CopyInput, 'instanceUuid' | 'boot'>): boolean {
  return input.instanceUuid === instanceUuid && input.boot === boot
}
