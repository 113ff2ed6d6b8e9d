import type { followEvents } from '../../contract/event/operations.ts'
import { beforeAllEvents, findEventPlace, findOldestEvent } from '../../db/event/read.ts'
import { presentPlace, readEventsAfter } from '../../db/event/read.ts'
import type { EventRow, EventsRead } from '../../db/event/read.ts'
import type { EventPlace } from '../../db/event/read.ts'
import type { Call, Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { streamTimes } from '../stream-writer.ts'
import type { SentEvent, StreamTimes, StreamWriter } from '../stream-writer.ts'
import { streamedAnswer } from '../streamed-answer.ts'
import type { EventTail } from './event-tail.ts'
import { EventTails, eventsPerRead } from './event-tails.ts'
import { presentEvent } from './event-view.ts'
import { passes } from './filter.ts'
import type { StreamPlaces } from '../stream-places.ts'

type Filter = Parameters<typeof passes>[0]

/** Follows the events of the account. */
export function eventsStream(deps: ApiDeps, places: StreamPlaces): Handler<typeof followEvents> {
  const tails = new EventTails(deps)
  return async ({ query }, call) => {
    const { last_event_id, ...filter } = query
    const lastId = call.lastEventId ?? last_event_id
    const { userUuid } = call.identity
    const start = await startOf(deps, userUuid, lastId)
    return streamedAnswer({ deps, call, places }, (writer, ended) =>
      tails.with(userUuid, (tail) =>
        new Stream({ deps, call, tail, filter }).run(writer, { ...start, ended }),
      ),
    )
  }
}

interface Start {
  readonly place: EventPlace
  /** Present if events are missing before this place. */
  readonly gap?: SentEvent
}

/** Where a stream begins: after the last event that the client has. */
async function startOf(deps: ApiDeps, userUuid: string, lastId: number | undefined): Promise<Start> {
  const { database } = deps
  if (lastId === undefined) return { place: await presentPlace(database, userUuid) }
  if (lastId === 0) return { place: beforeAllEvents }
  const place = await findEventPlace(database, userUuid, lastId)
  if (place !== undefined) return { place }
  const oldest = await findOldestEvent(database, userUuid)
  const data = {
    after: lastId,
    ...(oldest === undefined ? {} : { goes_on_with: oldest.position }),
    message: `the event ${lastId} is not kept any more: events after it may be missing`,
  }
  return { place: beforeAllEvents, gap: { type: 'gap', data } }
}

class Stream {
  readonly #deps: ApiDeps
  readonly #call: Call
  readonly #tail: EventTail
  readonly #filter: Filter
  readonly #times: StreamTimes

  constructor(options: {
    readonly deps: ApiDeps
    readonly call: Call
    readonly tail: EventTail
    readonly filter: Filter
  }) {
    this.#deps = options.deps
    this.#call = options.call
    this.#tail = options.tail
    this.#filter = options.filter
    this.#times = options.deps.settings.streamTimes ?? streamTimes
  }

  /** Writes events until the stream has ended, or the token is not valid any more. */
  async run(writer: StreamWriter, start: Start & { readonly ended: AbortSignal }): Promise<void> {
    const { gap, ended } = start
    let { place } = start
    if (gap !== undefined) await writer.send([gap])
    while (!ended.aborted) {
      const read = this.#tail.after(place) ?? (await this.#page(place))
      place = read.place
      if (!(await this.#call.stillValid())) return
      const events = read.events.filter((event) => passes(this.#filter, event))
      if (events.length > 0) await writer.send(events.map(sent))
      if (read.events.length > 0) continue
      const { beatMs } = this.#times
      const waitedFrom = performance.now()
      await this.#tail.news(beatMs, ended)
      if (performance.now() - waitedFrom >= beatMs && !ended.aborted) await writer.beat()
    }
  }

  async #page(after: EventPlace): Promise<EventsRead> {
    const { userUuid } = this.#call.identity
    return await readEventsAfter(this.#deps.database, userUuid, { after, limit: eventsPerRead })
  }
}

function sent(event: EventRow): SentEvent {
  return { id: event.position, type: 'event', data: presentEvent(event) }
}
