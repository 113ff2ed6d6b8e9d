import type { Readable, Writable } from 'node:stream'

/** Where a program that runs in an instance reads and writes: a person's terminal, or pipes. */
export interface ProgramTerminal {
  readonly input: Readable
  readonly output: Writable
  readonly errorOutput: Writable
  /** Whether a terminal is at both ends, for a person to work with. */
  readonly isInteractive: boolean
  /** Undefined if the output is no terminal. */
  readonly size: () => TerminalSize | undefined
  /** Whether the terminal passes every key on, or edits lines and makes signals of keys itself. */
  readonly setRaw: (raw: boolean) => void
  /** Returns what ends the calls. */
  readonly onResize: (listener: (size: TerminalSize) => void) => () => void
}

export interface TerminalSize {
  readonly rows: number
  readonly columns: number
}

/** What the users' commands work with; the composition root attaches it. */
export interface CommandDeps {
  /** Writes to standard output: the answer to the command, and nothing else. */
  readonly write: (text: string | Uint8Array) => void
  /** Writes to standard error: progress, and what else a person should know. */
  readonly note: (text: string) => void
  /** The columns of the terminal. Absent if there is none: then lines have any length. */
  readonly columns: number | undefined
  /** Whether a person sees what goes to standard error while it is written. */
  readonly showsProgress: boolean
  readonly terminal: ProgramTerminal
  /** Reads a line without showing it, or standard input if that is no terminal. */
  readonly readSecret: (prompt: string) => Promise<string>
  /** Reads a file, or standard input for `-`. Throws `CommandFailure` if it is larger than `maxBytes`. */
  readonly readFile: (file: string, maxBytes: number) => Promise<string>
  /** Shows an address in the browser. Returns false if there is none. */
  readonly openBrowser: (url: string) => Promise<boolean>
  /** Trusts a certificate authority, in PEM, from now on. */
  readonly trust: (pem: string) => void
  /** Aborted by Ctrl-C, and when `ending` is. */
  readonly signal: AbortSignal
  /** Aborted by SIGTERM and SIGHUP, which are about the command itself and not about what it shows. */
  readonly ending: AbortSignal
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The file with the profiles. */
  readonly configFile: string
  /** The data directory of the installation on this machine, if there is one. */
  readonly dataDir: string
}
