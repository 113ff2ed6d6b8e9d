import type { ServerResponse } from 'node:http'
import { slowStreamMs, streamBeatMs } from '../contract/limits.ts'
import { writeToReader } from './response-reader.ts'

/** One event of a stream, as `EventSource` in browsers reads it. */
export interface SentEvent {
  /** What the client sends as `Last-Event-ID` when it connects again. */
  readonly id?: string | number
  readonly type: string
  readonly data: unknown
}

export interface StreamTimes {
  /** How often a stream on which nothing happens sends a comment, so that proxies keep it open. */
  readonly beatMs: number
  /** How long a client may take to receive what a stream has sent. A slower client is disconnected. */
  readonly slowMs: number
}

export const streamTimes: StreamTimes = { beatMs: streamBeatMs, slowMs: slowStreamMs }

/** How long a client waits before it connects again. */
const reconnectMs = 1_000

/** Writes server-sent events to one client. Throws `ReaderLost` if the client is gone or too slow. */
export class StreamWriter {
  readonly #response: ServerResponse
  readonly #slowMs: number

  constructor(response: ServerResponse, { slowMs }: Pick<StreamTimes, 'slowMs'>) {
    this.#response = response
    this.#slowMs = slowMs
  }

  /** Sends the head of the answer, so that the client knows at once that the stream is open. */
  async open(): Promise<void> {
    this.#response.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store',
      // Proxies that buffer answers would keep events back.
      'X-Accel-Buffering': 'no',
    })
    await this.#write(`retry: ${reconnectMs}\n\n`)
  }

  async send(events: readonly SentEvent[]): Promise<void> {
    if (events.length > 0) await this.#write(events.map(textOf).join(''))
  }

  /** Sends a comment, which clients ignore. */
  async beat(): Promise<void> {
    await this.#write(':\n\n')
  }

  end(): void {
    this.#response.end()
  }

  async #write(text: string): Promise<void> {
    await writeToReader(this.#response, text, { slowMs: this.#slowMs })
  }
}

/** JSON has no line breaks, so one line of data is enough. */
function textOf({ id, type, data }: SentEvent): string {
  const head = id === undefined ? '' : `id: ${id}\n`
  return `${head}event: ${type}\ndata: ${JSON.stringify(data)}\n\n`
}
