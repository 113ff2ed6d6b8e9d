import type { NodeInstances } from '../../domain/host/api-protocol.ts'
import type { AgentPorts } from './agent-ports.ts'
import type { HostAgent } from './host-agent.ts'
import type { InstanceEntry } from '../instance/entry.ts'
import { permitOf } from '../instance/record.ts'
import type { Move, MoveSource } from '../instance/record.ts'
import { NotHeldError } from '../moves/transfers.ts'

export const garbageIntervalMs = 30_000
/**
 * How long an instance has to be missing from the API's list, and unchanged on this host, before it counts
 * as deleted.
 */
const garbageAgeMs = 60_000
/** How long a host that holds an instance for this one may take to say so. */
const askLimitMs = 5_000
/**
 * How long what was fetched is kept, unchanged, if the host from which it came can not be asked, and the API
 * does not rule out that the instance becomes this host's; with a volume, in any case.
 */
const unansweredAgeMs = 24 * 3_600_000

/**
 * Removes instances that the API does not list for this host any more. They were deleted, but the activity
 * that removes them never reached this host. Only a successful answer of the API counts. An instance that is
 * being started, or that is missing for the first time, stays. What was fetched for a move stays as long as
 * the old host holds it: the row may name this host a moment later. A host that holds nothing for this one
 * any more lets it not even ask. Then the API decides, which says which instances are moving here.
 */
export class GarbageSweep {
  readonly #agent: HostAgent
  readonly #ports: AgentPorts
  readonly #list: () => Promise<NodeInstances>
  readonly #missingSinceMs = new Map<string, number>()

  constructor(options: {
    readonly agent: HostAgent
    readonly ports: AgentPorts
    readonly list: () => Promise<NodeInstances>
  }) {
    this.#agent = options.agent
    this.#ports = options.ports
    this.#list = options.list
  }

  /**
   * Returns what it removed. With `wasLost` it does not wait until an instance counts as deleted: the host
   * was taken for lost, so what the API does not list runs elsewhere. An instance that sleeps here without a
   * volume goes, too, even if it is listed: its workflow may already be looking for another host, and traffic
   * must not wake it here. If it stays on this host after all, it sleeps on without its memory.
   */
  async sweep({ wasLost = false } = {}): Promise<readonly string[]> {
    // The instances on this host are read before the API is asked. An instance that comes to this host in
    // the meantime may be missing from the API's answer, and must not be removed.
    const here = [...this.#agent.entries.values()].map((entry) => ({ entry, holdUuid: holdOf(entry) }))
    const { instances, arriving } = await this.#list()
    const listed = new Set(instances.map((instance) => instance.uuid))
    const removed: string[] = []
    const silent = new Set<string>()
    for (const { entry, holdUuid } of here) {
      const { instanceUuid } = entry
      // It may even move away and back while the API says which host has a volume.
      const isSame = (): boolean =>
        this.#agent.entries.get(instanceUuid) === entry && holdOf(entry) === holdUuid
      const isListed = listed.has(instanceUuid)
      const isLost = wasLost && (!isListed || this.#sleepsAlone(instanceUuid))
      if (isListed) this.#missingSinceMs.delete(instanceUuid)
      const isGarbage = isLost || (!isListed && (await this.#isOld(instanceUuid)))
      const isAway = !isListed && arriving?.includes(instanceUuid) === false
      if (isGarbage && !(await this.#mayStillCome(instanceUuid, { isAway, silent }))) {
        if (!isSame() || !(await this.#letVolumeGo(entry)) || !isSame()) continue
        this.#ports.log.info({ instance: instanceUuid, isListed }, 'an instance is removed from this host')
        await this.#agent.clear({ instanceUuid })
        this.#missingSinceMs.delete(instanceUuid)
        removed.push(instanceUuid)
      }
    }
    await this.#settleArrivals()
    return removed
  }

  /**
   * Overwrites the volume of an instance that moved away. False if nobody can say now whether it is this
   * host's: the instance is held on until then, so nothing uses the volume.
   */
  async #letVolumeGo(entry: InstanceEntry): Promise<boolean> {
    try {
      await this.#agent.moves.volumes.letGo(entry, { told: false })
      return true
    } catch (error) {
      this.#ports.log.warn(
        { instance: entry.instanceUuid, err: error },
        'a volume that moved away could not be overwritten yet',
      )
      return false
    }
  }

  async #settleArrivals(): Promise<void> {
    await this.#agent.moves.settleArrivals().catch((error: unknown) => {
      this.#ports.log.warn({ err: error }, 'what arrived of volumes could not be settled yet')
    })
  }

  /** Whether it may be woken here, and has no volume. */
  #sleepsAlone(instanceUuid: string): boolean {
    const { record, launch } = this.#agent.entries.get(instanceUuid) ?? {}
    return record !== undefined && permitOf(record) !== undefined && launch?.spec.volume === undefined
  }

  /**
   * Whether it was fetched for a move that may still be completed. `isAway` says that according to the API it
   * is not this host's, and is not moving here. `silent` has the hosts that did not answer in this sweep, so
   * that each is waited for once.
   */
  async #mayStillCome(
    instanceUuid: string,
    { isAway, silent }: { readonly isAway: boolean; readonly silent: Set<string> },
  ): Promise<boolean> {
    const moveNow = (): Move | undefined => this.#agent.entries.get(instanceUuid)?.record?.move
    const move = moveNow()
    if (move?.role !== 'new') return false
    const held = silent.has(move.from.nodeId) ? undefined : await this.#heldAt(move.from, instanceUuid)
    // It was taken, or fetched anew, in the meantime.
    if (moveNow()?.role !== 'new' || moveNow()?.holdUuid !== move.holdUuid) return true
    if (held !== undefined) return held.holdUuid === move.holdUuid
    silent.add(move.from.nodeId)
    // A workflow that can not write for a while may have recorded nothing of its move yet. What is lost by
    // that is a memory, but must not be a volume.
    if (isAway && move.fetched.volumeUuid === undefined) return !(await this.#isOld(instanceUuid))
    const changed = await this.#ports.store.changedAtMs(instanceUuid)
    return changed !== undefined && this.#ports.nowMs() - changed < unansweredAgeMs
  }

  /** Which hold of the instance the old host has. Undefined if it can not be asked. */
  async #heldAt(
    from: MoveSource,
    instanceUuid: string,
  ): Promise<{ readonly holdUuid: string | undefined } | undefined> {
    try {
      const signal = AbortSignal.timeout(askLimitMs)
      const copy = await this.#ports.transfers?.copyOf(from, instanceUuid, signal)
      return copy && { holdUuid: copy.holdUuid }
    } catch (error) {
      return error instanceof NotHeldError ? { holdUuid: undefined } : undefined
    }
  }

  async #isOld(instanceUuid: string): Promise<boolean> {
    const nowMs = this.#ports.nowMs()
    const since = this.#missingSinceMs.get(instanceUuid) ?? nowMs
    this.#missingSinceMs.set(instanceUuid, since)
    if (nowMs - since < garbageAgeMs || this.#agent.entries.get(instanceUuid)?.job !== undefined) return false
    const changed = await this.#ports.store.changedAtMs(instanceUuid)
    return changed === undefined || nowMs - changed >= garbageAgeMs
  }
}

function holdOf({ record }: InstanceEntry): string | undefined {
  return record?.move?.holdUuid
}
