import { FailureCode } from '../client/api-failure.ts'
import type { ApiFailure } from '../client/api-failure.ts'

/** The exit codes of users' commands. `docs/command-line.md` lists them. */
export const ExitCode = {
  Done: 0,
  /** It was refused, or is not possible. */
  Failed: 1,
  /** Unknown command or option, missing or malformed argument. */
  Usage: 2,
  NotFound: 3,
  /** There is no token, or it is not valid, or it may not do this. */
  NoAccess: 4,
  /** The API does not answer. */
  NoAnswer: 5,
  TimedOut: 6,
} as const
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode]

/** A command can not do what it was asked for. The message is for the person at the terminal. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure'
  readonly exitCode: ExitCode

  constructor(message: string, options: { readonly exitCode?: ExitCode; readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause })
    this.exitCode = options.exitCode ?? ExitCode.Failed
  }
}

/** The exit code of a command that runs a program elsewhere, where the command itself fails; as of Docker. */
export const ownFailureCode = 125

/** Ends a command with the exit code of a program that it ran. It is no failure of the command. */
export class ProgramEnd extends Error {
  override readonly name = 'ProgramEnd'
  readonly code: number

  constructor(code: number) {
    super(`the program ended with ${String(code)}`)
    this.code = code
  }
}

/** What a person reads, and what a program gets, of an API's failure. */
export function toldFailure(failure: ApiFailure): { readonly message: string; readonly exitCode: ExitCode } {
  const { httpStatus, code, requestId } = failure.facts
  if (httpStatus === undefined) {
    return {
      message: `${failure.message}\nIs the installation running, and the address right? \`roost login\` sets another one.`,
      exitCode: ExitCode.NoAnswer,
    }
  }
  if (httpStatus === 401) {
    return {
      message: `${failure.message}\nGive a valid token: \`roost login\`.`,
      exitCode: ExitCode.NoAccess,
    }
  }
  if (httpStatus === 403 || code === FailureCode.NotAllowed) {
    return {
      message: `${failure.message}\nUse a token with more rights: \`roost login\`, or \`--profile\` for another one.`,
      exitCode: ExitCode.NoAccess,
    }
  }
  if (code === FailureCode.NotFound) return { message: failure.message, exitCode: ExitCode.NotFound }
  if (code === FailureCode.TimedOut) return { message: failure.message, exitCode: ExitCode.TimedOut }
  const isOurs = httpStatus >= 500 && requestId !== undefined
  const message = isOurs
    ? `${failure.message}\nAn operator finds it by the request id ${requestId}.`
    : failure.message
  return { message, exitCode: ExitCode.Failed }
}
