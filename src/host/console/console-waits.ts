import { watch } from 'node:fs'
import type { FSWatcher } from 'node:fs'
import type { LogWindow } from '../../domain/host/api-protocol.ts'
import { readConsole } from './console-reader.ts'

export interface LogRequest {
  /** Where the window begins. Negative: counted from the end. */
  readonly offset: number
  readonly limit: number
  /** How long to wait for bytes after `offset`. Absent: not at all. */
  readonly waitMs?: number
  /** Aborts when nobody waits for the answer any more. */
  readonly gone?: AbortSignal
}

export interface WaitBounds {
  /**
   * The most reads that wait at a time, on the whole host and for one instance. Others are answered at
   * once.
   */
  readonly all: number
  readonly ofOne: number
}

/** Each wait is an open connection and a few hundred bytes. */
export const consoleWaitBounds: WaitBounds = { all: 4_096, ofOne: 64 }
/** How often a directory that can not be watched is looked at, for example before the first start. */
const lookAgainMs = 1_000

/**
 * Reads consoles, and waits for their next bytes without reading in between. While somebody waits, the kernel
 * tells of changes in the console's directory; this needs nothing of the instance, which may sleep.
 */
export class ConsoleWaits {
  readonly #bounds: WaitBounds
  readonly #watched = new Map<string, WatchedConsole>()
  #count = 0

  constructor(bounds: WaitBounds = consoleWaitBounds) {
    this.#bounds = bounds
  }

  /**
   * Reads the window, like `readConsole`. With `waitMs` it answers when the log does not end at `offset` any
   * more. It is answered early, perhaps with nothing, if too many wait already.
   */
  async read(directory: string, request: LogRequest): Promise<LogWindow> {
    const { offset, waitMs = 0 } = request
    const console = this.#watched.get(directory) ?? new WatchedConsole(directory)
    const isFull = this.#count >= this.#bounds.all || console.readers >= this.#bounds.ofOne
    if (waitMs === 0 || offset < 0 || isFull) return await readConsole(directory, request)
    this.#watched.set(directory, console)
    this.#count += 1
    console.readers += 1
    try {
      return await readWhenLonger(console, request, waitMs)
    } finally {
      this.#count -= 1
      console.readers -= 1
      if (console.readers === 0) {
        console.close()
        this.#watched.delete(directory)
      }
    }
  }
}

async function readWhenLonger(
  console: WatchedConsole,
  request: LogRequest,
  waitMs: number,
): Promise<LogWindow> {
  const untilMs = performance.now() + waitMs
  for (;;) {
    // The wake-up is armed before the read, so that no byte is missed in between.
    const news = console.news()
    try {
      const window = await readConsole(console.directory, request)
      const leftMs = untilMs - performance.now()
      if (window.availableEnd !== request.offset || leftMs <= 0 || request.gone?.aborted === true)
        return window
      await news.within(console.isWatched ? leftMs : Math.min(leftMs, lookAgainMs), request.gone)
    } finally {
      news.forget()
    }
  }
}

interface News {
  /** Resolves when the console may have changed, or after this time, or when `gone` aborts. */
  within(ms: number, gone?: AbortSignal): Promise<void>
  forget(): void
}

/** A console's directory that the kernel watches while somebody waits for it. */
class WatchedConsole {
  readonly directory: string
  readers = 0
  #watcher: FSWatcher | undefined
  readonly #waiting = new Set<() => void>()

  constructor(directory: string) {
    this.directory = directory
  }

  get isWatched(): boolean {
    return this.#watcher !== undefined
  }

  news(): News {
    this.#watcher ??= this.#watch()
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.add(resolve)
    return {
      within: async (ms, gone) => {
        const timer = setTimeout(resolve, ms)
        gone?.addEventListener('abort', () => resolve(), { once: true })
        await promise
        clearTimeout(timer)
      },
      forget: () => void this.#waiting.delete(resolve),
    }
  }

  close(): void {
    this.#watcher?.close()
    this.#watcher = undefined
    this.#waiting.clear()
  }

  /** Undefined if there is no such directory yet, or if the kernel watches nothing more. */
  #watch(): FSWatcher | undefined {
    try {
      const watcher = watch(this.directory, { persistent: false }, (kind) => {
        // A new or dropped segment is a `rename`, and so is the end of the directory, after which this
        // watcher would be silent for ever. Those who go on waiting begin a new one.
        if (kind === 'rename') this.#forget(watcher)
        this.#wake()
      })
      watcher.on('error', () => {
        this.#forget(watcher)
        this.#wake()
      })
      return watcher
    } catch {
      return undefined
    }
  }

  #forget(watcher: FSWatcher): void {
    watcher.close()
    if (this.#watcher === watcher) this.#watcher = undefined
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve()
    this.#waiting.clear()
  }
}
