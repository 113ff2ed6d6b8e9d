import { setImmediate as yieldToOthers } from 'node:timers/promises'
import type { RouteLine } from '../../domain/service/route-feed.ts'
import type { RouteTable } from '../route-table.ts'

export interface RouteSenderOptions {
  readonly table: Pick<RouteTable, 'lines' | 'revision'>
  /** Resolves once the reader's channel has taken the lines. */
  readonly send: (lines: readonly RouteLine[]) => Promise<void>
  readonly maxWaitingLines?: number
}

/**
 * The most lines in one message. A line has 80 KB at most, that of a certificate, and usually one; so no
 * message keeps either process from its other work for long.
 */
const linesAtOnce = 50
/**
 * The most lines that wait for a reader that is slow. With more, the blocks are dropped and the reader gets
 * the whole table: that has no more lines than a table, however many changes it missed.
 */
const defaultMaxWaitingLines = 100_000

/**
 * Keeps the table of one serving process equal to that of the main process: first it sends the whole table,
 * then every finished block. Blocks are never mixed and never cut short.
 */
export class RouteSender {
  readonly #options: RouteSenderOptions
  readonly #maxWaitingLines: number
  #blocks: (readonly RouteLine[])[] = []
  #waitingLines = 0
  /** Whether the whole table is to be sent next. */
  #tableDue = true
  #running = false
  #closed = false

  constructor(options: RouteSenderOptions) {
    this.#options = options
    this.#maxWaitingLines = options.maxWaitingLines ?? defaultMaxWaitingLines
  }

  /** Sends the table as it is now. Resolves when the reader has all of it. */
  async start(): Promise<void> {
    await this.#run()
  }

  /** Sends a block that was already applied to the table. */
  add(block: readonly RouteLine[]): void {
    // The table that is due will contain what the block says.
    if (this.#tableDue) return
    this.#blocks.push(block)
    this.#waitingLines += block.length
    if (this.#waitingLines > this.#maxWaitingLines) this.#tableDue = true
    void this.#run()
  }

  close(): void {
    this.#closed = true
    this.#blocks = []
  }

  async #run(): Promise<void> {
    if (this.#running) return
    this.#running = true
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      for (let from = 0; from < next.length && !this.#closed; from += linesAtOnce) {
        await this.#options.send(next.slice(from, from + linesAtOnce))
        await yieldToOthers()
      }
    }
    this.#running = false
  }

  #next(): readonly RouteLine[] | undefined {
    if (this.#closed) return undefined
    if (!this.#tableDue) {
      const block = this.#blocks.shift()
      this.#waitingLines -= block?.length ?? 0
      return block
    }
    this.#tableDue = false
    this.#blocks = []
    this.#waitingLines = 0
    const { table } = this.#options
    // Entries are replaced and never changed, so these lines are the table of one moment. A table without a
    // revision has nothing to tell.
    return table.revision === undefined ? this.#next() : [...table.lines()]
  }
}
