import type { HostEvent } from '../../domain/host-work.ts'
import type { AgentLog } from './agent-ports.ts'
import type { InstanceEntry } from './instance-entry.ts'
import type { InstanceRecord } from './instance-record.ts'

/** Where workflows hear of their boots. `gone`: there is no such workflow any more, so nobody to tell. */
export interface HostEvents {
  tell(instanceUuid: string, event: HostEvent): Promise<'taken' | 'gone'>
}

/** Reports under way at once; after a reboot of a host there may be hundreds to make. */
const deliveriesAtOnce = 8

/** Waits after the nth failed round, the last one for all further: 16 s of silence, then every 10 s. */
const retryDelaysMs = [200, 800, 2_000, 4_000, 9_000, 10_000] as const

/**
 * Reports every event that is on disk and not yet taken, at least once, for as long as it takes. Level-triggered: `wake`
 * only says that there may be something; the records say what.
 */
export class EventOutbox {
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
      ({ record }) => record !== undefined && dueEvents(record).length > 0,
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
    const { record } = entry
    if (record === undefined) return true
    try {
      for (const event of dueEvents(record)) {
        if (this.#closed) return true
        await this.#events.tell(entry.instanceUuid, event)
        await this.#noteTaken(entry, record.boot, event)
      }
      return true
    } catch (error) {
      this.#log.warn(
        { instance: entry.instanceUuid, boot: record.boot, err: error },
        'an event could not be reported yet',
      )
      return false
    }
  }

  async #noteTaken(entry: InstanceEntry, boot: number, event: HostEvent): Promise<void> {
    await entry.queue.run(async () => {
      const { record } = entry
      if (record?.boot !== boot) return
      await entry.save({ ...record, ...(event.kind === 'exited' ? { reported: true } : { startDue: false }) })
    })
  }
}

/** In the order in which they happened. */
function dueEvents(record: InstanceRecord): readonly HostEvent[] {
  const { started, startDue, exit, reported } = record
  return [
    ...(started !== undefined && startDue === true ? [{ kind: 'started', started } as const] : []),
    ...(exit !== undefined && !reported ? [{ kind: 'exited', exit } as const] : []),
  ]
}
