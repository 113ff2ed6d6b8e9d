import type { Database } from '../../db/database.ts'
import { presentPlace, readEventsAfter } from '../../db/event/read.ts'
import type { InstanceWatch } from '../../db/instance/watch.ts'
import { EventTail } from './event-tail.ts'

/** How many events one read of a tail or of a stream returns at most. */
export const eventsPerRead = 500

interface OpenTail {
  readonly tail: Promise<EventTail>
  streams: number
}

/**
 * The tails of all accounts that have streams at this process. A tail lives as long as any of its streams.
 */
export class EventTails {
  readonly #database: Database
  readonly #watch: Pick<InstanceWatch, 'onEvents'>
  readonly #tails = new Map<string, OpenTail>()

  constructor(deps: { readonly database: Database; readonly watch: Pick<InstanceWatch, 'onEvents'> }) {
    this.#database = deps.database
    this.#watch = deps.watch
  }

  /** Runs `work` with the tail of an account. */
  async with<T>(userUuid: string, work: (tail: EventTail) => Promise<T>): Promise<T> {
    const open = this.#tails.get(userUuid) ?? this.#open(userUuid)
    open.streams += 1
    try {
      return await work(await open.tail)
    } finally {
      open.streams -= 1
      if (open.streams === 0) await this.#close(userUuid, open)
    }
  }

  #open(userUuid: string): OpenTail {
    const open = { tail: this.#begin(userUuid), streams: 0 }
    this.#tails.set(userUuid, open)
    return open
  }

  async #begin(userUuid: string): Promise<EventTail> {
    const place = await presentPlace(this.#database, userUuid)
    const tail: EventTail = new EventTail(
      place,
      async (after) => await readEventsAfter(this.#database, userUuid, { after, limit: eventsPerRead }),
    )
    tail.onClose(this.#watch.onEvents(userUuid, () => tail.wake()))
    // What came before the notifications began is read now.
    tail.wake()
    return tail
  }

  async #close(userUuid: string, open: OpenTail): Promise<void> {
    if (this.#tails.get(userUuid) === open) this.#tails.delete(userUuid)
    const tail = await open.tail.catch(() => undefined)
    tail?.close()
  }
}
