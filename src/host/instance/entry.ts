import type { HostEvent, StandByResult, StartResult } from '../../domain/instance/host-work.ts'
import { noHostLease } from '../../domain/standby/host-lease-state.ts'
import type { HostLeaseState } from '../../domain/standby/host-lease-state.ts'
import type { StartReport } from '../../domain/instance/start-report.ts'
import type { NicCounters } from '../network/network.ts'
import { InstanceLoads } from './loads.ts'
import { runs } from './record.ts'
import type { InstanceRecord } from './record.ts'
import type { InstanceStore, LaunchCopy } from './store.ts'
import { SerialQueue } from '../agent/serial-queue.ts'

/** The longest delay of Node's timers, which have 31 bits. A timer with a longer one would fire at once. */
const timerMaxMs = 2 ** 31 - 1

/** A start under way. It goes on if the activity that asked for it is cut off; the next attempt joins it. */
export interface StartJob {
  readonly boot: number
  readonly controller: AbortController
  /** Traffic asked for this start, so the workflow does not know of it yet and has to be told. */
  readonly byPermit: boolean
  /** Only the API has asked for this start so far, not the workflow. */
  early: boolean
  /** True from the moment there may be a VM. */
  vmAsked: boolean
  result: Promise<StartResult>
}

export interface PendingCall<T> {
  readonly boot: number
  readonly permit?: number
  resolve(result: T): void
}

/**
 * One instance in the memory of the agent. The record and the VM are only changed within `queue`, with one
 * exception: `stop` asks the VM to end from outside it, so that it can overtake a start.
 */
export class InstanceEntry {
  readonly instanceUuid: string
  readonly queue = new SerialQueue()
  /** The start under way, if any. */
  job: StartJob | undefined
  /** Boots up to this one were stopped before they were known here: a late attempt must not start them. */
  stoppedThroughBoot = 0
  /** The boot that was asked to stop. Its end counts as that stop, even while the host halts. */
  stopAskedOfBoot = 0
  /** Set when the instance's removal begins. A start that was asked for before must not bring it back. */
  removed = false
  /**
   * The last failure that was written to the console. Repeated attempts fail in the same way; one line is
   * enough.
   */
  lastComplaint = ''
  /** The host lease. Only `HostLeases` writes it. */
  hostLease: HostLeaseState = noHostLease
  readonly loads = new InstanceLoads()
  /** The newest start. Gateways hear of a wake before its start is in the record. */
  newestStart: StartReport | undefined
  /** The order to stand by that is being carried out. Resolves when it is over, carried out or not. */
  sleep: Promise<void> | undefined
  /** The application was sent its shutdown signal for the order to stand by. */
  sleepAsked = false
  /** The calls that wait for the end of an order to stand by, and of a drain. */
  readonly standByCalls = new Set<PendingCall<StandByResult>>()
  readonly drainCalls = new Set<PendingCall<void>>()
  /** What a wake needs, read from disk at most once. */
  launch: LaunchCopy | undefined
  /** Set when a wake failed. The image may be missing, so the next wake prepares it again. */
  imageDoubted = false
  /**
   * The counters of the address when the instance fell asleep. The address stays attached in standby, so the
   * next boot begins with these counters.
   */
  nicBase: NicCounters | undefined
  /** Since when the VM waits for room on the host's disk. Written by `StalledVms`. */
  stalledSinceMs: number | undefined
  /**
   * Set if the host's disk had no room for the memory at the last order to stand by. Written by
   * `StandbyWork`.
   */
  noRoom:
    | { readonly boot: number; readonly atMs: number; readonly neededMb: number; readonly leftMb: number }
    | undefined
  /** The idle period to report. It is worthless as soon as it is over, so it is not on disk. */
  idleDue: Extract<HostEvent, { kind: 'idle' }> | undefined
  /** The epoch of the idle period that may not be reported yet. Written by `EventOutbox`. */
  idleHeldBack: number | undefined
  #record: InstanceRecord | undefined
  readonly #store: InstanceStore
  readonly #endListeners = new Set<() => void>()

  constructor(instanceUuid: string, store: InstanceStore, record?: InstanceRecord) {
    this.instanceUuid = instanceUuid
    this.#store = store
    this.#record = record
    this.stoppedThroughBoot = record?.stoppedThrough ?? 0
  }

  get record(): InstanceRecord | undefined {
    return this.#record
  }

  /**
   * Only within `queue`. The record is on disk before it is visible in memory, so it outlives the death of
   * the agent.
   */
  async save(record: InstanceRecord, options: { readonly durable?: boolean } = {}): Promise<void> {
    await this.#store.save(record, options)
    this.#record = record
    // A VM that ended or sleeps does not wait for room.
    if (record.started !== undefined && !runs(record)) this.stalledSinceMs = undefined
    if (record.exit !== undefined) for (const listener of this.#endListeners) listener()
  }

  /**
   * Like `save`, but if the disk has no room, the record changes in memory only and may be lost with this
   * process. For changes that must be told even then.
   */
  async note(record: InstanceRecord): Promise<void> {
    try {
      await this.save(record)
    } catch {
      this.#record = record
    }
  }

  /** Only within `queue`. */
  async remove(): Promise<void> {
    await this.#store.remove(this.instanceUuid)
    this.#record = undefined
    for (const listener of this.#endListeners) listener()
  }

  /** Resolves true when the current boot is over, false after `timeoutMs`. */
  async ended(timeoutMs: number): Promise<boolean> {
    const isOver = (): boolean => this.#record === undefined || this.#record.exit !== undefined
    if (isOver()) return true
    return await new Promise((resolve) => {
      const finish = (): void => {
        clearTimeout(timer)
        this.#endListeners.delete(finish)
        resolve(isOver())
      }
      const timer = setTimeout(finish, Math.min(timeoutMs, timerMaxMs))
      this.#endListeners.add(finish)
    })
  }
}

/** Whether the instance could sleep now, but waits for its turn among the instances of its user. */
export function isHeldBack({ hostLease, idleHeldBack }: InstanceEntry): boolean {
  return hostLease.idle !== undefined && hostLease.idle.epoch === idleHeldBack
}
