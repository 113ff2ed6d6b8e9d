import { EventEmitter } from 'node:events'
import type { ExecStart } from '../../domain/instance/exec-protocol.ts'
import { connectionWindowBytes, windowBytes } from './exec-frames.ts'

/** What is to be done in a guest, beside its application and as the application's user. */
export type ExecRequest = ProgramRequest | Exclude<ExecStart, { type: 'run' }>

export interface ProgramRequest {
  readonly type?: 'run'
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
  /**
   * The program could not be run, or the connection was not accepted; the code is the one that shells
   * report.
   */
  | { readonly kind: 'failed'; readonly code: number; readonly message: string }
  | { readonly kind: 'lost'; readonly message: string }

/**
 * A session of one program, copy or connection. Emits `started`; `output` with what the program writes;
 * `outputEnded` when a connection has no more of it; `inputTaken` with the number of bytes of input that the
 * program has taken; and `end` once, as the last.
 *
 * The reader of the output says by `outputTaken` how much it has dealt with. A program has at most
 * `windowBytes` of output that nobody has taken; beyond that it waits in its write. In the same way a caller
 * may have at most `windowBytes` of input written that `inputTaken` has not told of.
 */
export abstract class ExecSession extends EventEmitter<{
  started: []
  output: [stream: 'stdout' | 'stderr', bytes: Buffer]
  outputEnded: []
  inputTaken: [bytes: number]
  end: [ExecEnd]
}> {
  readonly windowBytes: number

  constructor({ type }: ExecRequest) {
    super()
    this.windowBytes = type === 'connect' ? connectionWindowBytes : windowBytes
  }

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
