import type { RouteLine } from '../../domain/service/route-feed.ts'
import type { RouteSink } from '../routes.ts'

/** What the sink tells: each finished block, and every line as a sign that the API is there. */
export interface BlockListener {
  block(lines: readonly RouteLine[]): void
  heard(): void
}

/** Applies the lines of the feed to a sink, and tells each block once it has been applied. */
export class BlockSink implements RouteSink {
  readonly #sink: RouteSink
  readonly #listener: BlockListener
  #lines: RouteLine[] = []

  constructor(sink: RouteSink, listener: BlockListener) {
    this.#sink = sink
    this.#listener = listener
  }

  get revision(): string | undefined {
    return this.#sink.revision
  }

  /** Throws what the sink throws, for a line that is out of order. */
  apply(line: RouteLine): void {
    this.#sink.apply(line)
    if (line.kind === 'begin') this.#lines = []
    if (line.kind !== 'beat') this.#lines.push(line)
    if (line.kind === 'end') {
      this.#listener.block(this.#lines)
      this.#lines = []
    }
    // In the middle of a block the age says little, and a message for each line would be too much.
    if (line.kind === 'end' || line.kind === 'beat') this.#listener.heard()
  }
}
