import { createParser } from 'eventsource-parser'
import { ApiFailure, failureOf, withoutAnswer } from './api-failure.ts'
import { succeeded } from './answers.ts'
import type { Entry } from './answers.ts'
import { baseAddress, createApiClient, headersOf, isAborted } from './client.ts'
import type { ApiAccess } from './client.ts'
import type { operations } from './api-types.ts'
import { pause } from './pause.ts'

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
  /** The connection is lost; the stream goes on by itself after the last event. */
  | { readonly kind: 'lost'; readonly failure: ApiFailure; readonly retryMs: number }

/** The pause before a stream connects again. It doubles with every try that brings nothing. */
const firstRetryMs = 1_000
const longestRetryMs = 30_000
/** The server sends something every 15 s. A stream that is silent for longer than two of these is lost. */
const longestSilenceMs = 40_000
/** The most characters of one event. A server that sends more is not believed. */
const maxEventCharacters = 1_000_000

/**
 * Follows the events of an account. If the connection is lost, the stream connects again and goes on after
 * the last event, so that every event comes once. It ends when the signal says so, and throws `ApiFailure`
 * if the API refuses it, as with a token that has expired.
 */
export async function* followEvents(
  access: ApiAccess,
  options: EventsToFollow,
): AsyncGenerator<StreamMessage> {
  const { signal } = options
  let after = options.after
  let retryMs = firstRetryMs
  while (!signal.aborted) {
    try {
      // Without the id of an event, a stream that connects again would not know where to go on.
      after ??= await latestEventId(access, signal)
      for await (const message of connection(access, { ...options, after })) {
        if (message.kind === 'event') after = message.event.id
        retryMs = firstRetryMs
        yield message
      }
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof ApiFailure) || isFinal(error)) throw error
      const pauseMs = (error.facts.retryAfterS ?? 0) * 1000 || retryMs
      yield { kind: 'lost', failure: error, retryMs: pauseMs }
      await pause(pauseMs, signal)
      retryMs = Math.min(2 * retryMs, longestRetryMs)
    }
  }
}

/** The id of the newest event of the account; 0 if it has none. */
export async function latestEventId(access: ApiAccess, signal: AbortSignal): Promise<number> {
  const answer = await createApiClient(access).GET('/v1/events', { params: { query: { count: 1 } }, signal })
  return succeeded(answer)[0]?.id ?? 0
}

/** A refusal is final. No answer, too many streams and a failing server are not. */
function isFinal({ facts: { httpStatus } }: ApiFailure): boolean {
  return httpStatus !== undefined && httpStatus >= 400 && httpStatus < 500 && httpStatus !== 429
}

/** The messages of one connection. It throws `ApiFailure` when the connection ends. */
async function* connection(
  access: ApiAccess,
  { filter = {}, after, signal, onOpen }: EventsToFollow,
): AsyncGenerator<StreamMessage> {
  const url = new URL(`${baseAddress(access.address)}/v1/events/stream`)
  for (const [name, value] of Object.entries(filter)) url.searchParams.set(name, value)
  const silence = new AbortController()
  const request = new Request(url, {
    headers: { ...headersOf(access), accept: 'text/event-stream', 'last-event-id': String(after) },
    signal: AbortSignal.any([signal, silence.signal]),
  })
  const response = await (access.fetch ?? globalThis.fetch)(request).catch((error: unknown) => {
    throw isAborted(error) ? error : withoutAnswer(access.address, error)
  })
  if (!response.ok) throw await failureOf(response)
  if (response.body === null) throw withoutAnswer(access.address, new Error('the answer has no body'))
  onOpen?.()
  try {
    yield* messagesIn(response.body, silence)
  } catch (error) {
    if (signal.aborted) throw error
    throw withoutAnswer(access.address, silence.signal.aborted ? new Error('the stream is silent') : error)
  }
  throw withoutAnswer(access.address, new Error('the stream has ended'))
}

async function* messagesIn(
  body: ReadableStream<Uint8Array>,
  silence: AbortController,
): AsyncGenerator<StreamMessage> {
  const ready: StreamMessage[] = []
  const parser = createParser({
    maxBufferSize: maxEventCharacters,
    onEvent: ({ event, data }) => {
      const message = messageOf(event, data)
      if (message !== undefined) ready.push(message)
    },
    onError: (error) => {
      if (error.type === 'max-buffer-size-exceeded') throw error
    },
  })
  const decoder = new TextDecoder()
  const reader = body.getReader()
  const limit = () => setTimeout(() => silence.abort(), longestSilenceMs)
  let timer = limit()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      clearTimeout(timer)
      timer = limit()
      parser.feed(decoder.decode(value, { stream: true }))
      yield* ready.splice(0)
    }
  } finally {
    clearTimeout(timer)
    await reader.cancel().catch(() => undefined)
  }
}

/** Types of messages that are not known say nothing to this client. */
function messageOf(type: string | undefined, data: string): StreamMessage | undefined {
  if (type === 'event') return { kind: 'event', event: JSON.parse(data) as UserEvent }
  if (type === 'gap')
    return { kind: 'gap', message: (JSON.parse(data) as { readonly message: string }).message }
  return undefined
}
