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

/** Node's timers hold 31 bits; a longer one would fire at once. */
const timerMaxMs = 2 ** 31 - 1

/**
 * A start under way. It lives on when the activity that asked for it is cut off: the next attempt joins it.
 */
export interface StartJob {
  readonly boot: number
  readonly controller: AbortController
  /** Traffic asked for it, so its workflow has to hear of it. */
  readonly byPermit: boolean
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
 * One instance in the memory of the agent. Whoever changes the record or the VM does so within `queue`;
 * `stop` asks the VM to end from outside it, because it must be able to overtake a start.
 */
export class InstanceEntry {
  readonly instanceUuid: string
  readonly queue = new SerialQueue()
  /** The start under way, if any. */
  job: StartJob | undefined
  /** Boots up to this one were stopped before they were known here: a late attempt must not start them. */
  stoppedThroughBoot = 0
  /** The boot that someone asked to stop: its end is that someone's doing, even while the host halts. */
  stopAskedOfBoot = 0
  /** Set when its removal begins: a start that was asked for before must not bring it back. */
  removed = false
  /** What its console was told last of failed starts: attempts repeat themselves, the console need not. */
  lastComplaint = ''
  /** Written by `HostLeases` alone. */
  hostLease: HostLeaseState = noHostLease
  readonly loads = new InstanceLoads()
  /** Gateways hear of a wake before its start is on record. */
  newestStart: StartReport | undefined
  /** The order to stand by that is being carried out; settles when it is over, either way. */
  sleep: Promise<void> | undefined
  /** The application was sent its shutdown signal for it. */
  sleepAsked = false
  /** Who waits for the end of an order to stand by, and of a drain. */
  readonly standByCalls = new Set<PendingCall<StandByResult>>()
  readonly drainCalls = new Set<PendingCall<void>>()
  /** What a wake needs, read from disk at most once. */
  launch: LaunchCopy | undefined
  /** A wake failed: the image may be what is missing, so the next one prepares it again. */
  imageDoubted = false
  /** What its address, which stays attached in standby, had counted before the next boot. */
  nicBase: NicCounters | undefined
  /** Its VM waits for room on the host's disk; `StalledVms` writes it. */
  stalledSinceMs: number | undefined
  /** Its host had no room for its memory when it was last to stand by; `StandbyWork` writes it. */
  noRoom:
    | { readonly boot: number; readonly atMs: number; readonly neededMb: number; readonly leftMb: number }
    | undefined
  /** An idle period to be told of; worthless as soon as it is over, so not on disk. */
  idleDue: Extract<HostEvent, { kind: 'idle' }> | undefined
  /** The idle period that may not be told yet; `EventOutbox` writes it. */
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

  /** Within `queue` only. Durable against the death of the agent before it is visible in memory. */
  async save(record: InstanceRecord, options: { readonly durable?: boolean } = {}): Promise<void> {
    await this.#store.save(record, options)
    this.#record = record
    // What ended or sleeps waits for nothing.
    if (record.started !== undefined && !runs(record)) this.stalledSinceMs = undefined
    if (record.exit !== undefined) for (const listener of this.#endListeners) listener()
  }

  /**
   * As `save`, for what a disk without room must not keep from being told: it may be forgotten with this
   * process.
   */
  async note(record: InstanceRecord): Promise<void> {
    try {
      await this.save(record)
    } catch {
      this.#record = record
    }
  }

  /** Within `queue` only. */
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

/** It could sleep now, and waits for its turn among the instances of its user. */
export function isHeldBack({ hostLease, idleHeldBack }: InstanceEntry): boolean {
  return hostLease.idle !== undefined && hostLease.idle.epoch === idleHeldBack
}
