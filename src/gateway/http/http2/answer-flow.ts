import type { Sweep } from '../sweep.ts'
import type { FrameBudget } from './frame-budget.ts'
import type { FrameOutput } from './frame-output.ts'
import { badWindow, defaultWindow, largestWindow } from './frames.ts'
import type { ListedStream, StreamList } from './stream-list.ts'

export interface AnsweredStream extends ListedStream {
  /** How many bytes of the answer's body the client takes now. */
  window: number
  /** Whether there is something to send, if the client takes it. */
  readonly isWaiting: boolean
  /** Sends of what waits as much as may be sent, up to a turn of this stream. */
  pump(): void
}

/** How the bodies of answers flow over one connection: as fast as the client takes them. */
export class AnswerFlow {
  /** How many bytes the client takes now, over all streams. */
  window = defaultWindow
  /** With how many bytes a stream begins. */
  streamWindow = defaultWindow
  /** When the client last took something, if `hasWaiting`. */
  takenAtMs = 0
  readonly #streams: StreamList<AnsweredStream>
  readonly #output: FrameOutput
  readonly #budget: FrameBudget
  readonly #sweep: Sweep
  #hasWaiting = false

  constructor(options: {
    readonly streams: StreamList<AnsweredStream>
    readonly output: FrameOutput
    readonly budget: FrameBudget
    readonly sweep: Sweep
  }) {
    this.#streams = options.streams
    this.#output = options.output
    this.#budget = options.budget
    this.#sweep = options.sweep
  }

  /** Whether the client has to take something before more can be sent. */
  get hasWaiting(): boolean {
    return this.#hasWaiting || this.#output.holdsBack
  }

  /** Called when a piece of an answer has to wait until the client takes more. */
  waits(): void {
    if (!this.#hasWaiting) this.takenAtMs = this.#sweep.nextLookMs
    this.#hasWaiting = true
  }

  /** Called when that many bytes of an answer were sent. */
  sent(bytes: number): void {
    this.window -= bytes
    this.takenAtMs = this.#sweep.nextLookMs
    this.#budget.sent(bytes)
  }

  /** Opens the window over all streams. */
  open(bytes: number): void {
    this.window += bytes
    if (this.window > largestWindow) throw badWindow('the window is too large')
    this.pump()
  }

  /** Sets with how many bytes a stream begins. Streams that have begun are changed by the difference. */
  setStreamWindow(bytes: number): void {
    for (const stream of this.#streams.all()) {
      stream.window += bytes - this.streamWindow
      if (stream.window > largestWindow) throw badWindow('the window of a stream is too large')
    }
    this.streamWindow = bytes
    this.pump()
  }

  /** Lets the waiting streams send, one after the other, as much as the client takes. */
  pump(): void {
    if (!this.#hasWaiting) return
    this.#hasWaiting = false
    for (const stream of this.#streams.all()) if (stream.isWaiting) stream.pump()
    for (const stream of this.#streams.all()) this.#hasWaiting ||= stream.isWaiting
  }
}
