import { setTimeout as delay } from 'node:timers/promises'
import { Agent, request } from 'undici'
import type { buildConnector, Dispatcher } from 'undici'
import { JsonLineReader } from './json-lines.ts'
import { refusalText } from './refusal-text.ts'

/**
 * A line stream reads lines of JSON from an HTTP answer in which a server sends changes for as long as a
 * process lives. Whenever the answer ends, the stream asks again.
 *
 * There is one connection at a time. `onLine` gets each line as it arrives, in order. Between two
 * connections lines may be missing or repeated, so `ask` has to say how far this reader has come, and the
 * meaning of the lines has to allow both. The connection is ended, and another one made, when nothing
 * arrived for `silenceMs`, when a line is too long or no JSON, and when `onLine` throws.
 */
export interface LineStreamOptions {
  /** Called before every attempt. The request says how far the reader has come by then. */
  readonly ask: () => LineStreamRequest
  readonly maxLineBytes: number
  /**
   * The longest silence before the connection is ended. It must be longer than the time between two beats of
   * the sender. It also bounds the time to connect and the wait for the head of the answer.
   */
  readonly silenceMs: number
  readonly onLine: (line: object) => void
  /** Called on every connection and every loss of one, for logs and health; `why` holds no credential. */
  readonly onChange?: (change: LineStreamChange) => void
  /** How a connection is made. Absent: without a certificate of the reader. */
  readonly connect?: buildConnector.connector
  /** Returns a random number from 0 to 1. Tests give a function of their own. */
  readonly random?: () => number
}

export interface LineStreamRequest {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
}

export type LineStreamChange =
  | { readonly connected: true }
  | { readonly connected: false; readonly why: string; readonly retryInMs: number; readonly status?: number }

/**
 * The wait before each attempt after the first. The total time after each wait is 0.1 s, 0.3 s, 0.7 s, 1.5
 * s, 3 s and 6 s; then each wait is 5 s. Each wait is shortened by up to a third at random, so that the many
 * readers of a server that was restarted do not all connect at once.
 */
const delaysMs = [100, 200, 400, 800, 1_500, 3_000] as const
const longestDelayMs = 5_000
const shortenedBy = 1 / 3

/** The server answered, but not with a stream. */
class Refused extends Error {
  override readonly name = 'Refused'
  readonly status: number
  constructor(status: number, why: string | undefined) {
    super(`the server answered ${status}${why === undefined ? '' : `: ${why}`}`)
    this.status = status
  }
}

export class LineStream {
  readonly #options: LineStreamOptions
  readonly #stopping = new AbortController()
  readonly #dispatcher: Dispatcher
  #running: Promise<void> = Promise.resolve()
  #connected = false
  /**
   * True once a line has arrived over this connection. Then the next wait is the first of the table again.
   */
  #heard = false

  constructor(options: LineStreamOptions) {
    this.#options = options
    // The silence between lines is watched in this file. The library's own timer counts whole seconds, and
    // does not fire while the reader takes nothing.
    this.#dispatcher = new Agent({
      connections: 1,
      pipelining: 0,
      connect: options.connect ?? { timeout: options.silenceMs },
      headersTimeout: options.silenceMs,
      bodyTimeout: 0,
    })
  }

  /** True from the beginning of an answer to its end. */
  get connected(): boolean {
    return this.#connected
  }

  /**
   * Starts the reading. To be called once. It never fails: problems are reported to `onChange`, and another
   * attempt follows.
   */
  start(): void {
    this.#running = this.#keepReading()
  }

  /** Ends the reading. After this call no line is given to `onLine`. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
    await this.#dispatcher.destroy()
  }

  async #keepReading(): Promise<void> {
    const { signal } = this.#stopping
    for (let failures = 0; !signal.aborted; failures++) {
      this.#heard = false
      const why = await this.#readOnce().then(
        () => new Error('the server ended the stream'),
        (error: unknown) => error,
      )
      if (signal.aborted) break
      if (this.#heard) failures = 0
      const retryInMs = this.#delayMs(failures)
      this.#lost(why, retryInMs)
      await delay(retryInMs, undefined, { signal }).catch(() => undefined)
    }
    this.#connected = false
  }

  /** Makes one connection and reads its lines. Resolves when the server has ended the answer. */
  async #readOnce(): Promise<void> {
    const { maxLineBytes, onLine, onChange } = this.#options
    const ending = new AbortController()
    const silence = this.#watchSilence(ending)
    const signal = AbortSignal.any([this.#stopping.signal, ending.signal])
    try {
      const { url, headers } = this.#options.ask()
      const answer = await request(url, { headers, signal, dispatcher: this.#dispatcher })
      if (answer.statusCode !== 200)
        throw new Refused(answer.statusCode, refusalText(await answer.body.text()))
      this.#connected = true
      onChange?.({ connected: true })
      const lines = new JsonLineReader({ maxBytes: maxLineBytes })
      for await (const chunk of answer.body) {
        silence.refresh()
        for (const line of lines.push(chunk as Buffer)) {
          if (signal.aborted) return
          this.#heard = true
          onLine(line)
        }
      }
    } finally {
      clearTimeout(silence)
      // The code also comes here if `onLine` threw. Then the rest of the answer is not read.
      ending.abort()
    }
  }

  #watchSilence(ending: AbortController): NodeJS.Timeout {
    const { silenceMs } = this.#options
    return setTimeout(() => ending.abort(new Error(`nothing was heard for ${silenceMs} ms`)), silenceMs)
  }

  #delayMs(failures: number): number {
    const random = (this.#options.random ?? Math.random)()
    return Math.round((delaysMs[failures] ?? longestDelayMs) * (1 - shortenedBy * random))
  }

  #lost(why: unknown, retryInMs: number): void {
    this.#connected = false
    const status = why instanceof Refused ? { status: why.status } : {}
    this.#options.onChange?.({ connected: false, why: reasonOf(why), retryInMs, ...status })
  }
}

/** The reason for people. If a name has several addresses, Node's error has a code and no message. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message || ((error as NodeJS.ErrnoException).code ?? error.name)
}
