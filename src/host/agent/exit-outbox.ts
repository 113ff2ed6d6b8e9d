import type { ExitReport } from '../../domain/exit-report.ts'
import type { AgentLog } from './agent-ports.ts'
import type { InstanceEntry } from './instance-entry.ts'

/** Where the ends of boots are reported. `gone`: there is no such workflow any more, so nobody to tell. */
export interface HostEvents {
  exited(instanceUuid: string, exit: ExitReport): Promise<'taken' | 'gone'>
}

/** Reports under way at once; after a reboot of a host there may be hundreds to make. */
const deliveriesAtOnce = 8

/** Waits after the nth failed round, the last one for all further: 16 s of silence, then every 10 s. */
const retryDelaysMs = [200, 800, 2_000, 4_000, 9_000, 10_000] as const

/**
 * Reports every end that is on disk and not yet taken, at least once, for as long as it takes. Level-triggered: `wake` only
 * says that there may be something; the records say what.
 */
export class ExitOutbox {
  readonly #entries: () => Iterable<InstanceEntry>
  readonly #events: HostEvents
  readonly #log: AgentLog
  #failedRounds = 0
  /** Guards against two rounds at once. */
  #round: Promise<void> | undefined
  /** Something came while a round was under way. */
  #again = false
  /** The wait before the next attempt. */
  #timer: NodeJS.Timeout | undefined
  /** Nothing is reported after `close`, or before the first `wake`. */
  #closed = false

  constructor(options: {
    readonly entries: () => Iterable<InstanceEntry>
    readonly events: HostEvents
    readonly log: AgentLog
  }) {
    this.#entries = options.entries
    this.#events = options.events
    this.#log = options.log
  }

  wake(): void {
    if (this.#closed) return
    if (this.#round !== undefined) {
      this.#again = true
      return
    }
    clearTimeout(this.#timer)
    this.#again = false
    this.#round = this.#deliverAll().then((allTaken) => {
      this.#round = undefined
      this.#failedRounds = allTaken ? 0 : this.#failedRounds + 1
      if (!allTaken) this.#retryLater()
      else if (this.#again) this.wake()
    })
  }

  /** Resolves when the round under way is over; what is not taken by then stays on disk. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#round
  }

  #retryLater(): void {
    if (this.#closed) return
    const delay = retryDelaysMs[Math.min(this.#failedRounds, retryDelaysMs.length) - 1]
    this.#timer = setTimeout(() => {
      this.wake()
    }, delay)
  }

  async #deliverAll(): Promise<boolean> {
    const due = [...this.#entries()].filter(
      (entry) => entry.record?.exit !== undefined && !entry.record.reported,
    )
    let allTaken = true
    const workers = Array.from({ length: deliveriesAtOnce }, async () => {
      for (let entry = due.pop(); entry !== undefined; entry = due.pop()) {
        if (!(await this.#deliver(entry))) allTaken = false
      }
    })
    await Promise.all(workers)
    return allTaken
  }

  async #deliver(entry: InstanceEntry): Promise<boolean> {
    const exit = entry.record?.exit
    if (exit === undefined || this.#closed) return true
    try {
      await this.#events.exited(entry.instanceUuid, exit)
      await entry.queue.run(async () => {
        const { record } = entry
        if (record?.exit !== undefined && record.boot === exit.boot)
          await entry.save({ ...record, reported: true })
      })
      return true
    } catch (error) {
      this.#log.warn(
        { instance: entry.instanceUuid, boot: exit.boot, err: error },
        'an end could not be reported yet',
      )
      return false
    }
  }
}
