import { ExitCause } from './exit-report.ts'
import type { ExitReport } from './exit-report.ts'
import { cleanStopCode, crashCode } from './stop-code.ts'

/** The bits of `stop_reason`: where a stop came from and what ended in order. */
export const StopBit = {
  /** The kernel ended; there is a `stop_code`. */
  Kernel: 1,
  /** The application ended by itself or on the shutdown signal; there is an `exit_code`. */
  Application: 2,
  /** The platform stopped it. Set for stops by the user too: those pass through the platform. */
  Platform: 4,
  User: 8,
  Forced: 16,
} as const

export const StopOrigin = { User: 'user', Platform: 'platform' } as const
export type StopOrigin = (typeof StopOrigin)[keyof typeof StopOrigin]

/** A stop that somebody asked for. */
export interface AskedStop {
  readonly origin: StopOrigin
  readonly forced: boolean
}

/**
 * The numbers of an end in the API. `stopCode` is present with the kernel bit, `exitCode` with the
 * application bit.
 */
export interface StopOutcome {
  readonly stopReason: number
  readonly exitCode?: number
  readonly stopCode?: number
}

/** A shell adds this to a signal's number to get an exit code. */
const signalExitBase = 128

/** The bits of a stop that was asked for and is not over yet. */
export function askedBits(asked: AskedStop): number {
  const user = asked.origin === StopOrigin.User ? StopBit.User : 0
  const forced = asked.forced ? StopBit.Forced : 0
  return StopBit.Platform | user | forced
}

/**
 * Turns what the host observed and what was asked into the numbers of the API. A forced stop has only its own
 * bits, whatever the guest managed to do before it. Without a report (the host never knew the boot), only
 * what was asked is known.
 */
export function stopOutcome(exit: ExitReport | undefined, asked: AskedStop | undefined): StopOutcome {
  if (asked?.forced === true) return { stopReason: askedBits(asked) }
  if (exit === undefined) return { stopReason: asked === undefined ? 0 : askedBits(asked) }
  if (asked !== undefined) return orderlyStop(exit, asked)
  if (exit.cause === ExitCause.HostHalted) {
    return orderlyStop(exit, { origin: StopOrigin.Platform, forced: false })
  }
  return ownEnd(exit)
}

/** The user or the platform asked the guest to shut down. */
function orderlyStop(exit: ExitReport, asked: AskedStop): StopOutcome {
  const bits = askedBits(asked)
  const exitCode = exit.exitCode ?? (exit.signal === undefined ? undefined : signalExitBase + exit.signal)
  if (exit.cause === ExitCause.Forced || exit.cause === ExitCause.VmmLost) return { stopReason: bits }
  if (exit.cause === ExitCause.KernelPanic) {
    return { stopReason: bits | StopBit.Kernel, stopCode: crashCode(exit) }
  }
  const stopCode = cleanStopCode
  if (exit.killedAtShutdown === true) return { stopReason: bits | StopBit.Kernel, stopCode }
  if (exitCode !== undefined) {
    return { stopReason: bits | StopBit.Application | StopBit.Kernel, exitCode, stopCode }
  }
  if (exit.cause === ExitCause.HostHalted) return { stopReason: bits }
  return { stopReason: bits | StopBit.Kernel, stopCode }
}

/** Nobody asked: the end came from within, or the VMM was lost. */
function ownEnd(exit: ExitReport): StopOutcome {
  if (exit.cause === ExitCause.VmmLost) return { stopReason: 0 }
  if (exit.cause === ExitCause.Forced) return { stopReason: StopBit.Platform | StopBit.Forced }
  const stopCode = crashCode(exit)
  const crashed =
    exit.cause === ExitCause.KernelPanic || exit.signal !== undefined || exit.outOfMemory === true
  if (crashed || exit.exitCode === undefined) return { stopReason: StopBit.Kernel, stopCode }
  return { stopReason: StopBit.Application | StopBit.Kernel, exitCode: exit.exitCode, stopCode }
}
