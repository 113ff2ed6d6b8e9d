/**
 * A command can not do what it was asked for. The message is for the person at the terminal; the exit code
 * is 1.
 */
export class CliFailure extends Error {
  override readonly name = 'CliFailure'
}

/** Exit codes of `roost`. */
export const ExitCode = {
  Done: 0,
  Failed: 1,
  /** Unknown command or option, missing or malformed argument. */
  Usage: 2,
} as const
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode]
