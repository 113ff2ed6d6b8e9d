import type { ExitReport } from './exit-report.ts'
import { ExitCause } from './exit-report.ts'

/** The kind of fault: the lowest 8 bits of a stop code. */
export const StopCodeReason = {
  Ok: 0,
  /** The system found itself in an invalid state. */
  Invalid: 1,
  Arithmetic: 2,
  Instruction: 3,
  PageFault: 4,
  Segmentation: 5,
  Hardware: 6,
  Security: 7,
} as const
export type StopCodeReason = (typeof StopCodeReason)[keyof typeof StopCodeReason]

/** Signal numbers of Linux on x86-64. */
const Signal = { Ill: 4, Bus: 7, Fpe: 8, Segv: 11, Sys: 31 } as const
const outOfMemoryErrno = 12

const reasonBySignal = new Map<number, StopCodeReason>([
  [Signal.Segv, StopCodeReason.Segmentation],
  [Signal.Bus, StopCodeReason.PageFault],
  [Signal.Fpe, StopCodeReason.Arithmetic],
  [Signal.Ill, StopCodeReason.Instruction],
  [Signal.Sys, StopCodeReason.Security],
])

/**
 * Bits 14-8: the application was executing. Lower numbers are the phases before and after, which are not
 * distinguished.
 */
const applicationLevel = 127

/** Bit 15: the stop occurred while the system was shutting down. */
const shutdownBit = 1 << 15

/**
 * The code of every successful shutdown. It is the same for a stop by anybody and for any exit code of the
 * application. It says that the system was shutting down and that no phase of the shutdown (bits 14-8) was
 * left. Clients read 0 as no code at all, or as an unexpected error.
 */
export const cleanStopCode = shutdownBit | StopCodeReason.Ok

interface FaultFields {
  /** Bits 7-0. */
  readonly reason: StopCodeReason
  /** Bits 23-16. */
  readonly errno?: number
  /** Bits 14-8. */
  readonly level: number
}

function faultCode({ reason, errno = 0, level }: FaultFields): number {
  return (errno << 16) | (level << 8) | reason
}

export function stopCodeReason(stopCode: number): number {
  return stopCode & 0xff
}

/**
 * Returns the code of an end that nobody asked for: that of a clean stop, or the fault and where it
 * happened.
 */
export function crashCode(exit: ExitReport): number {
  const level = exit.applicationStarted ? applicationLevel : 0
  if (exit.cause === ExitCause.KernelPanic) return faultCode({ reason: StopCodeReason.Invalid, level })
  if (exit.outOfMemory === true) {
    return faultCode({ reason: StopCodeReason.PageFault, errno: outOfMemoryErrno, level })
  }
  if (exit.signal === undefined) return cleanStopCode
  return faultCode({ reason: reasonBySignal.get(exit.signal) ?? StopCodeReason.Invalid, level })
}
