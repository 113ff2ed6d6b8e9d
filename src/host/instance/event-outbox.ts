import type { HostEvent } from '../../domain/instance/host-work.ts'
import type { AgentLog } from '../agent/agent-ports.ts'
import type { EventPace } from './event-pace.ts'
import type { InstanceEntry } from './entry.ts'
import { permitOf, runs } from './record.ts'
import type { InstanceRecord, Standby } from './record.ts'

/**
 * The port by which workflows are told of their boots. `gone` means that the workflow does not exist any
 * more.
 */
export interface HostEvents {
  tell(instanceUuid: string, event: HostEvent): Promise<'taken' | 'gone'>
}

/** The most reports under way at once. After a reboot of a host there may be hundreds. */
const deliveriesAtOnce = 8

/**
 * The waits after rounds that failed: 16 s for the first five rounds together, then 10 s after each round.
 */
const retryDelaysMs = [200, 800, 2_000, 4_000, 9_000, 10_000] as const

/** The wait before an event that `EventPace` held back is tried again. */
const heldBackPauseMs = 1_000

/**
 * Reports every event of `dueEvents`, at least once, and repeats it for as long as it is due.
 * Level-triggered: `wake` only says that there may be an event; the records and entries say which.
 */
export class EventOutbox {
  readonly #entries: () => Iterable<InstanceEntry>
  readonly #events: HostEvents
  readonly #log: AgentLog
  #failedRounds = 0
  /** The round under way; it guards against two at once. */
  #round: Promise<void> | undefined
  /** `wake` was called while a round was under way. */
  #again = false
  /** The timer that runs before the next attempt. */
  #timer: NodeJS.Timeout | undefined
  readonly #pace: EventPace
  /** The timer that runs while an event is held back. */
  #heldBackTimer: NodeJS.Timeout | undefined
  /** Set by `close`. Nothing is reported from then on. */
  #closed = false

  constructor(options: {
    readonly entries: () => Iterable<InstanceEntry>
    readonly events: HostEvents
    readonly pace: EventPace
    readonly log: AgentLog
  }) {
    this.#entries = options.entries
    this.#events = options.events
    this.#pace = options.pace
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

  /** Resolves when the round under way is over. Events that are not taken by then stay on disk. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    clearTimeout(this.#heldBackTimer)
    await this.#round
  }

  /** Whether the event may be reported now. If not, it stays due. */
  #mayTell(entry: InstanceEntry, event: RecordedEvent): boolean {
    const isHeldBack = !this.#pace.mayTell(entry, event)
    if (event.kind === 'idle') entry.idleHeldBack = isHeldBack ? event.epoch : undefined
    if (isHeldBack) {
      this.#heldBackTimer ??= setTimeout(() => {
        this.#heldBackTimer = undefined
        this.wake()
      }, heldBackPauseMs).unref()
    }
    return !isHeldBack
  }

  #retryLater(): void {
    if (this.#closed) return
    const delay = retryDelaysMs[Math.min(this.#failedRounds, retryDelaysMs.length) - 1]
    this.#timer = setTimeout(() => {
      this.wake()
    }, delay)
  }

  async #deliverAll(): Promise<boolean> {
    const due = [...this.#entries()].filter((entry) => dueEvents(entry).length > 0)
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
      for (const event of dueEvents(entry)) {
        if (this.#closed) return true
        if (!this.#mayTell(entry, event)) continue
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

  async #noteTaken(entry: InstanceEntry, boot: number, event: RecordedEvent): Promise<void> {
    if (event.kind === 'idle') {
      if (entry.idleDue === event) entry.idleDue = undefined
      return
    }
    await entry.queue.run(async () => {
      const { record } = entry
      if (record?.boot !== boot) return
      const taken = { ...record, ...takenOf(record, event) }
      await (event.kind === 'wake-failed' ? entry.note(taken) : entry.save(taken))
    })
  }
}

/**
 * The events that a host reports of boots that it knows. `LostBoots` reports boots of which it has no
 * record.
 */
type RecordedEvent = Exclude<HostEvent, { kind: 'lost' | 'removed' }>
type LastingEvent = Exclude<RecordedEvent, { kind: 'idle' }>

/** The events to report, in the order in which they happened. */
export function dueEvents(entry: InstanceEntry): readonly RecordedEvent[] {
  const { record, idleDue } = entry
  if (record === undefined) return []
  const { boot, started, startDue, wakingDueMs, exit, reported, standby } = record
  const isTold = (record.disabledTold ?? false) === entry.hostLease.disabled
  return [
    ...(wakingDueMs === undefined ? [] : [{ kind: 'waking', boot, atMs: wakingDueMs } as const]),
    ...(standby === undefined || permitOf(record) === undefined ? [] : wakeFailed(standby)),
    ...(started !== undefined && startDue === true ? [{ kind: 'started', started } as const] : []),
    ...(runs(record) && !isTold
      ? [{ kind: 'disabled', boot, disabled: entry.hostLease.disabled } as const]
      : []),
    ...(runs(record) && idleDue?.boot === boot ? [idleDue] : []),
    ...(exit !== undefined && !reported ? [{ kind: 'exited', exit } as const] : []),
  ]
}

function wakeFailed({ permit, wakeFailure }: Standby): readonly LastingEvent[] {
  if (wakeFailure?.due !== true) return []
  const { failure, message } = wakeFailure
  return [{ kind: 'wake-failed', boot: permit, failure, message }]
}

/**
 * The changes of the record once the event was taken. If the record says something newer than the event by
 * then, the news stays due.
 */
function takenOf(record: InstanceRecord, event: LastingEvent): Partial<InstanceRecord> {
  return taken[event.kind](record, event as never)
}

const taken: {
  readonly [K in LastingEvent['kind']]: (
    record: InstanceRecord,
    event: Extract<LastingEvent, { kind: K }>,
  ) => Partial<InstanceRecord>
} = {
  exited: () => ({ reported: true }),
  started: (record, { started }) =>
    record.started?.netTimeUs === started.netTimeUs ? { startDue: false } : {},
  waking: ({ wakingDueMs }, { atMs }) => (wakingDueMs === atMs ? { wakingDueMs: undefined } : {}),
  disabled: (_, { disabled }) => ({ disabledTold: disabled }),
  'wake-failed': ({ standby }, { message }) =>
    standby?.wakeFailure?.message === message
      ? { standby: { ...standby, wakeFailure: { ...standby.wakeFailure, due: false } } }
      : {},
}
