import { EventEmitter } from 'node:events'

/** A program that is to run in a guest, beside its application and as the application's user. */
export interface ExecRequest {
  /** The program and its arguments. They hold no NUL. */
  readonly argv: readonly string[]
  /** The program gets a terminal of this size. Without it, it gets three pipes. */
  readonly terminal?: TerminalSize
  /** The terminal's type, for the variable TERM. */
  readonly term?: string
}

export interface TerminalSize {
  readonly rows: number
  readonly columns: number
}

/** How a program ended. `lost`: the guest, its host or the connection to it ended first. */
export type ExecEnd =
  | { readonly kind: 'code'; readonly code: number }
  | { readonly kind: 'signal'; readonly signal: number }
  /** The program could not be run; the code is the one that shells report. */
  | { readonly kind: 'failed'; readonly code: number; readonly message: string }
  | { readonly kind: 'lost'; readonly message: string }

/**
 * A session of one program. Emits `started`; `output` with what the program writes; `inputTaken` with the
 * number of bytes of input that the program has taken; and `end` once, as the last.
 *
 * The reader of the output says by `outputTaken` how much it has dealt with. A program has at most
 * `windowBytes` of output that nobody has taken; beyond that it waits in its write. In the same way a caller
 * may have at most `windowBytes` of input written that `inputTaken` has not told of.
 */
export abstract class ExecSession extends EventEmitter<{
  started: []
  output: [stream: 'stdout' | 'stderr', bytes: Buffer]
  inputTaken: [bytes: number]
  end: [ExecEnd]
}> {
  abstract write(bytes: Buffer): void
  /** Standard input ends after what was written. */
  abstract endInput(): void
  abstract outputTaken(bytes: number): void
  abstract resize(size: TerminalSize): void
  /** Sends a signal of 1 to 31 to the program's group, or to what is in the foreground of its terminal. */
  abstract signal(number: number): void
  /** Ends the program's processes: SIGHUP, and SIGKILL 2 s later. `end` follows. */
  abstract close(): void
}

/** Thrown where no program can be run in a VM now. `message` is for the user. */
export class ExecRefused extends Error {
  override readonly name = 'ExecRefused'
  readonly reason: 'unable' | 'busy' | 'not-running'
  constructor(reason: ExecRefused['reason'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}
