import type { buildConnector } from 'undici'
import { toldProtocol, wires } from '../domain/protocols.ts'
import { feedBeatMs, maxFeedLineBytes } from '../domain/service/route-feed.ts'
import type { RouteLine } from '../domain/service/route-feed.ts'
import { LineStream } from '../primitives/line-stream.ts'
import type { LineStreamChange } from '../primitives/line-stream.ts'
import type { RouteSink } from './routes.ts'

/**
 * The gateway's connection to the API, from which its routes come. It reconnects without end; while it is
 * broken, the last routes stay in use.
 */
export interface FeedClient {
  readonly connected: boolean
  /** When the last line came, beats included, by `performance.now()`; absent before the first line. */
  readonly heardMs: number | undefined
  stop(): Promise<void>
}

export interface FeedClientOptions {
  readonly apiUrl: string
  /** What a gateway shows of itself in its requests. One that joined shows its certificate, by `connect`. */
  readonly headers: Readonly<Record<string, string>>
  readonly connect?: buildConnector.connector
  readonly sink: RouteSink
  readonly onChange?: (change: LineStreamChange) => void
}

/** How many beats in a row may be missing before the connection counts as dead. */
const missedBeats = 3

/** Connects, and reconnects whenever the connection is lost. `sink.revision` says from where to go on. */
export function followRoutes(options: FeedClientOptions): FeedClient {
  const { sink, onChange } = options
  const routes = new URL(`${options.apiUrl.replace(/\/$/, '')}/internal/gateway/routes`)
  let heardMs: number | undefined
  const stream = new LineStream({
    ask() {
      const url = new URL(routes)
      if (sink.revision !== undefined) url.searchParams.set('since', sink.revision)
      return { url, headers: { ...options.headers, ...toldProtocol(wires.routes) } }
    },
    maxLineBytes: maxFeedLineBytes,
    silenceMs: missedBeats * feedBeatMs,
    // The `kind` of a line says what it is. A newer API may send unknown kinds, for the table to leave out.
    onLine: (line) => {
      heardMs = performance.now()
      sink.apply(line as RouteLine)
    },
    ...(options.connect && { connect: options.connect }),
    ...(onChange === undefined ? {} : { onChange }),
  })
  stream.start()
  return {
    get connected() {
      return stream.connected
    },
    get heardMs() {
      return heardMs
    },
    stop: () => stream.stop(),
  }
}
