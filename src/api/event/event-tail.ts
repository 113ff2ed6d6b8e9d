import { pause } from '../pause.ts'
import type { EventRow, EventsRead } from '../../db/event/read.ts'
import type { EventPlace } from '../../db/event/read.ts'

/**
 * How many of the newest events are kept for the streams of one account. Slower streams read the database.
 */
const keptEvents = 500
/**
 * The time between two reads while committed events wait for an older transaction that is still under way.
 */
const openReadMs = 10
/** The longest time between two reads. Nothing depends on a notification. */
const rereadMs = 30_000
/** The longest pause after a read that failed, because PostgreSQL was away. */
const failedReadMs = 1_000

/**
 * The newest events of one account, which all its streams at this process share: each event is read once,
 * however many streams there are. A stream asks for what comes after its place, at its own pace.
 */
export class EventTail {
  readonly #read: (after: EventPlace) => Promise<EventsRead>
  #events: readonly EventRow[] = []
  /** Events from this place on are in `#events`. */
  #from: EventPlace
  /** Everything before this place was read. */
  #place: EventPlace
  #fresh = Promise.withResolvers<void>()
  #woken = Promise.withResolvers<void>()
  readonly #ended = new AbortController()

  constructor(place: EventPlace, read: (after: EventPlace) => Promise<EventsRead>) {
    this.#from = place
    this.#place = place
    this.#read = read
    void this.#follow()
  }

  /** Reads at once whether there is something new. */
  wake(): void {
    this.#woken.resolve()
  }

  /** Calls `end` when the tail is closed. */
  onClose(end: () => void): void {
    this.#ended.signal.addEventListener('abort', end)
  }

  close(): void {
    this.#ended.abort()
    this.wake()
  }

  /** The events after a place. Undefined if not all of them are kept here any more. */
  after(place: EventPlace): Pick<EventsRead, 'events' | 'place'> | undefined {
    if (isBefore(place, this.#from)) return undefined
    return {
      events: this.#events.filter((event) => isBefore(place, event)),
      place: latest(place, this.#place),
    }
  }

  /** Resolves when there is something new, after `limitMs`, or when `signal` aborts. */
  async news(limitMs: number, signal: AbortSignal): Promise<void> {
    await pause(limitMs, signal, this.#fresh.promise)
  }

  async #follow(): Promise<void> {
    while (!this.#ended.signal.aborted) {
      this.#woken = Promise.withResolvers<void>()
      const waitMs = await this.#step()
      if (waitMs > 0)
        await pause(waitMs, this.#ended.signal, waitMs < rereadMs ? undefined : this.#woken.promise)
    }
  }

  /** Reads once, and returns how long to wait before the next read. */
  async #step(): Promise<number> {
    try {
      const { events, place, more } = await this.#read(this.#place)
      this.#place = place
      if (events.length > 0) this.#keep(events)
      return more ? (events.length > 0 ? 1 : openReadMs) : rereadMs
    } catch {
      return failedReadMs
    }
  }

  #keep(events: readonly EventRow[]): void {
    const all = [...this.#events, ...events]
    this.#events = all.slice(-keptEvents)
    const dropped = all[all.length - keptEvents - 1]
    if (dropped !== undefined) this.#from = { xid: dropped.xid, position: dropped.position }
    const told = this.#fresh
    this.#fresh = Promise.withResolvers<void>()
    told.resolve()
  }
}

/** Whether one place comes before another. */
export function isBefore(one: EventPlace, other: EventPlace): boolean {
  if (one.xid === other.xid) return one.position < other.position
  return BigInt(one.xid) < BigInt(other.xid)
}

function latest(one: EventPlace, other: EventPlace): EventPlace {
  return isBefore(one, other) ? other : one
}
