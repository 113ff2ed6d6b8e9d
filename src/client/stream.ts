import { createParser } from 'eventsource-parser'
import { ApiFailure, failureOf, withoutAnswer } from './api-failure.ts'
import { baseAddress, headersOf } from './client.ts'
import type { ApiAccess } from './client.ts'
import { pause } from './pause.ts'

/** A stream of server-sent events of the API. */
export interface StreamToFollow<Message> {
  /** The path with the query that the first connection has. */
  readonly path: string
  /** The id after which the stream begins. Absent: where it begins by itself. */
  readonly after?: number | (() => Promise<number>)
  /** Reads an event. Undefined for types that are not known: they say nothing to this client. */
  readonly read: (type: string | undefined, data: string) => Message | undefined
  /** Ends the stream. */
  readonly signal: AbortSignal
  /** Called whenever the stream is connected, also if nothing happens then. */
  readonly onOpen?: (() => void) | undefined
}

/** The connection is lost; the stream goes on by itself after the last event. */
export interface Lost {
  readonly kind: 'lost'
  readonly failure: ApiFailure
  readonly retryMs: number
}

interface Sent<Message> {
  readonly id: number | undefined
  readonly message: Message
}

/** The pause before a stream connects again. It doubles with every try that brings nothing. */
const firstRetryMs = 1_000
const longestRetryMs = 30_000
/** The server sends something every 15 s. A stream that is silent for longer than two of these is lost. */
const longestSilenceMs = 40_000
/** The most characters of one event. A server that sends more is not believed. */
const maxEventCharacters = 1_000_000

/**
 * Follows a stream. If the connection is lost, it connects again and goes on after the last id, so that
 * everything comes once. It ends when the signal says so, and throws `ApiFailure` if the API refuses it, as
 * with a token that has expired.
 */
export async function* followStream<Message>(
  access: ApiAccess,
  stream: StreamToFollow<Message>,
): AsyncGenerator<Message | Lost> {
  const { signal } = stream
  let { after } = stream
  let retryMs = firstRetryMs
  while (!signal.aborted) {
    try {
      if (typeof after === 'function') after = await after()
      for await (const { id, message } of connection(access, stream, after)) {
        after = id ?? after
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

/** A refusal is final. No answer, too many streams and a failing server are not. */
function isFinal({ facts: { httpStatus } }: ApiFailure): boolean {
  return httpStatus !== undefined && httpStatus < 500 && httpStatus !== 429
}

/** The messages of one connection. It throws `ApiFailure` when the connection ends. */
async function* connection<Message>(
  access: ApiAccess,
  stream: StreamToFollow<Message>,
  after: number | undefined,
): AsyncGenerator<Sent<Message>> {
  const { signal } = stream
  const silence = new AbortController()
  const request = new Request(`${baseAddress(access.address)}${stream.path}`, {
    headers: {
      ...headersOf(access),
      accept: 'text/event-stream',
      ...(after !== undefined && { 'last-event-id': String(after) }),
    },
    signal: AbortSignal.any([signal, silence.signal]),
  })
  const response = await (access.fetch ?? globalThis.fetch)(request).catch((error: unknown) => {
    throw signal.aborted ? error : withoutAnswer(access.address, error)
  })
  // An answer that is no stream says why, as if the object is gone.
  if (!response.ok || !isStream(response)) throw await failureOf(response)
  if (response.body === null) throw withoutAnswer(access.address, new Error('the answer has no body'))
  stream.onOpen?.()
  try {
    yield* messagesIn(response.body, stream, silence)
  } catch (error) {
    if (signal.aborted) throw error
    throw withoutAnswer(access.address, silence.signal.aborted ? new Error('the stream is silent') : error)
  }
  throw withoutAnswer(access.address, new Error('the stream has ended'))
}

function isStream({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') === true
}

async function* messagesIn<Message>(
  body: ReadableStream<Uint8Array>,
  { read }: Pick<StreamToFollow<Message>, 'read'>,
  silence: AbortController,
): AsyncGenerator<Sent<Message>> {
  const ready: Sent<Message>[] = []
  const parser = createParser({
    maxBufferSize: maxEventCharacters,
    onEvent: ({ id, event, data }) => {
      const message = read(event, data)
      if (message !== undefined) ready.push({ id: id === undefined ? undefined : Number(id), message })
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
