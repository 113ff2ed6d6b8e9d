import type { ServerResponse } from 'node:http'
import { feedBeatMs } from '../../domain/service/route-feed.ts'
import type { FeedFrame } from '../../domain/service/route-feed.ts'
import { keyOf } from '../../db/service/feed-read.ts'
import type { FeedRead } from '../../db/service/feed-read.ts'
import type { FeedRow } from '../../db/sql/feed.ts'
import { pause } from '../pause.ts'
import { writeToReader } from '../response-reader.ts'
import { jsonLine } from '../../primitives/json-lines.ts'

/** What one reader gets of the feed: the rows that it may see, and how they are written. */
export interface FeedSource {
  read(since: string | undefined): Promise<FeedRead>
  line(row: FeedRow): object
  /** Calls `wake` when a read may find changes. Returns a function that ends the calls. */
  onChange(wake: () => void): () => void
  /** The least time between two reads if it is longer than usual, because many others read too. */
  gapMs?(): number
}

export interface FeedTimes {
  readonly beatMs: number
  /**
   * How long a reader may take to receive what was written. A slower reader is disconnected, and may
   * connect again when it can.
   */
  readonly slowReaderMs: number
  /** The least time between two reads for one reader. It lets many changes at once become one block. */
  readonly gapMs: number
  /**
   * The longest time between two reads, if no notification comes, and that between two revisions that a
   * reader is told. So the reader's revision stays recent, and nothing depends on a notification.
   */
  readonly rereadMs: number
}

const defaultTimes: FeedTimes = {
  beatMs: feedBeatMs,
  slowReaderMs: 10_000,
  gapMs: 20,
  rereadMs: 30_000,
}

/**
 * The size of the pieces in which lines are written to the connection. A snapshot may be a hundred times as
 * long.
 */
const pieceCharacters = 65_536

/**
 * Writes the feed to one reader, until it goes away, is too slow, or `stopping` aborts. Throws if the first
 * read fails, before anything is answered. If a later read fails, the answer ends and the reader connects
 * again.
 */
export async function tellFeed(
  response: ServerResponse,
  source: FeedSource,
  options: { readonly since: string | undefined; readonly stopping: AbortSignal; readonly times?: FeedTimes },
): Promise<void> {
  const times = options.times ?? defaultTimes
  const ended = new AbortController()
  const end = () => ended.abort()
  response.once('close', end)
  options.stopping.addEventListener('abort', end, { once: true })
  if (options.stopping.aborted) end()
  const waker = new Waker()
  const unlisten = source.onChange(() => waker.wake())
  try {
    const first = await source.read(options.since)
    response.writeHead(200, { 'Content-Type': 'application/jsonl', 'Cache-Control': 'no-store' })
    const teller = new FeedTeller({ response, source, times, ended: ended.signal })
    await teller.tell(first)
    while (!ended.signal.aborted) await teller.tellNext(waker)
    response.end()
  } catch (error) {
    if (!response.headersSent) throw error
    response.destroy()
  } finally {
    unlisten()
    response.off('close', end)
    options.stopping.removeEventListener('abort', end)
    ended.abort()
  }
}

class FeedTeller {
  readonly #response: ServerResponse
  readonly #source: FeedSource
  readonly #times: FeedTimes
  readonly #ended: AbortSignal
  #revision = ''
  /**
   * The rows that the last read found, as they were sent. The next read may find them again, because it can
   * not know whether they are new; they are not sent twice.
   */
  #told: ReadonlyMap<string, string> = new Map()
  #readAtMs = 0
  /** When the reader was told its last revision. */
  #endedAtMs = 0

  constructor(options: {
    readonly response: ServerResponse
    readonly source: FeedSource
    readonly times: FeedTimes
    readonly ended: AbortSignal
  }) {
    this.#response = options.response
    this.#source = options.source
    this.#times = options.times
    this.#ended = options.ended
  }

  /** Waits for a change, with beats meanwhile, and writes it. */
  async tellNext(waker: Waker): Promise<void> {
    const untilMs = this.#readAtMs + this.#times.rereadMs
    while (!this.#ended.aborted && performance.now() < untilMs) {
      if (await waker.woken(this.#times.beatMs, this.#ended)) break
      if (!this.#ended.aborted) await this.#write(jsonLine({ kind: 'beat' } satisfies FeedFrame))
    }
    const gapMs = Math.max(this.#times.gapMs, this.#source.gapMs?.() ?? 0)
    await pause(this.#readAtMs + gapMs - performance.now(), this.#ended)
    if (this.#ended.aborted) return
    waker.reset()
    await this.tell(await this.#source.read(this.#revision))
  }

  async tell(read: FeedRead): Promise<void> {
    this.#readAtMs = performance.now()
    const fresh = read.rows.filter((row) => read.snapshot || this.#told.get(keyOf(row)) !== row.xid)
    this.#told = new Map(read.rows.map((row) => [keyOf(row), row.xid]))
    const isMoved = read.revision !== this.#revision
    this.#revision = read.revision
    const isOld = this.#readAtMs - this.#endedAtMs >= this.#times.rereadMs
    // The revision moves with every transaction, but most changes concern few of the readers.
    if (fresh.length === 0 && !read.snapshot && !(isMoved && isOld)) return
    this.#endedAtMs = this.#readAtMs
    let piece = jsonLine({ kind: 'begin', snapshot: read.snapshot } satisfies FeedFrame)
    for (const row of fresh) {
      piece += jsonLine(this.#source.line(row))
      if (piece.length < pieceCharacters) continue
      await this.#write(piece)
      piece = ''
    }
    await this.#write(piece + jsonLine({ kind: 'end', revision: read.revision } satisfies FeedFrame))
  }

  async #write(text: string): Promise<void> {
    await writeToReader(this.#response, text, { slowMs: this.#times.slowReaderMs, ended: this.#ended })
  }
}

/** Remembers a change that comes during a read, so that another read follows. */
class Waker {
  #wakeUp: (() => void) | undefined
  #isWoken = false

  wake(): void {
    this.#isWoken = true
    this.#wakeUp?.()
  }

  reset(): void {
    this.#isWoken = false
  }

  /** Waits for a change. Returns false if the time is up or `ended` aborts before one comes. */
  async woken(limitMs: number, ended: AbortSignal): Promise<boolean> {
    if (!this.#isWoken) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wakeUp = resolve
      await pause(limitMs, ended, promise)
      this.#wakeUp = undefined
    }
    return this.#isWoken
  }
}
