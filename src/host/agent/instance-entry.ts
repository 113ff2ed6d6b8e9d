import type { StartResult } from '../../domain/host-work.ts'
import type { InstanceRecord } from './instance-record.ts'
import type { InstanceStore } from './instance-store.ts'
import { SerialQueue } from './serial-queue.ts'

/** Node's timers hold 31 bits; a longer one would fire at once. */
const timerMaxMs = 2 ** 31 - 1

/** A start under way. It lives on when the activity that asked for it is cut off: the next attempt joins it. */
export interface StartJob {
  readonly boot: number
  readonly controller: AbortController
  /** True from the moment there may be a VM. */
  vmAsked: boolean
  result: Promise<StartResult>
}

/**
 * One instance in the memory of the agent. Whoever changes the record or the VM does so within `queue`; `stop` asks
 * the VM to end from outside it, because it must be able to overtake a start.
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
  #record: InstanceRecord | undefined
  readonly #store: InstanceStore
  readonly #endListeners = new Set<() => void>()

  constructor(instanceUuid: string, store: InstanceStore, record?: InstanceRecord) {
    this.instanceUuid = instanceUuid
    this.#store = store
    this.#record = record
  }

  get record(): InstanceRecord | undefined {
    return this.#record
  }

  /** Within `queue` only. Durable against the death of the agent before it is visible in memory. */
  async save(record: InstanceRecord): Promise<void> {
    await this.#store.save(record)
    this.#record = record
    if (record.exit !== undefined) for (const listener of this.#endListeners) listener()
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
