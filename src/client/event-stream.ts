import { succeeded } from './answers.ts'
import type { Entry } from './answers.ts'
import type { operations } from './api-types.ts'
import { createApiClient } from './client.ts'
import type { ApiAccess } from './client.ts'
import { followStream } from './stream.ts'
import type { Lost } from './stream.ts'

export type UserEvent = Entry<'ListEventsAnswer'>
type StreamQuery = NonNullable<operations['followEvents']['parameters']['query']>
export type EventFilter = Omit<StreamQuery, 'last_event_id'>

export interface EventsToFollow {
  readonly filter?: EventFilter
  /** The id of the last event that the caller has; 0 for the oldest that is kept. Absent: from now on. */
  readonly after?: number
  /** Ends the stream. */
  readonly signal: AbortSignal
  /** Called whenever the stream is connected, also if nothing happens then. */
  readonly onOpen?: () => void
}

/** What a stream of events says. */
export type StreamMessage =
  | { readonly kind: 'event'; readonly event: UserEvent }
  /** Events before the next one are not kept any more. */
  | { readonly kind: 'gap'; readonly message: string }
  | Lost

/** Follows the events of an account: see `followStream`. */
export async function* followEvents(
  access: ApiAccess,
  { filter = {}, after, signal, onOpen }: EventsToFollow,
): AsyncGenerator<StreamMessage> {
  const query = new URLSearchParams(filter).toString()
  yield* followStream<StreamMessage>(access, {
    path: `/v1/events/stream?${query}`,
    // Without the id of an event, a stream that connects again would not know where to go on.
    after: after ?? (async () => await latestEventId(access, signal)),
    read: messageOf,
    signal,
    onOpen,
  })
}

/** The id of the newest event of the account; 0 if it has none. */
export async function latestEventId(access: ApiAccess, signal: AbortSignal): Promise<number> {
  const answer = await createApiClient(access).GET('/v1/events', { params: { query: { count: 1 } }, signal })
  return succeeded(answer)[0]?.id ?? 0
}

function messageOf(type: string | undefined, data: string): StreamMessage | undefined {
  if (type === 'event') return { kind: 'event', event: JSON.parse(data) as UserEvent }
  if (type === 'gap')
    return { kind: 'gap', message: (JSON.parse(data) as { readonly message: string }).message }
  return undefined
}
