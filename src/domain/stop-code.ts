import type { ExitReport } from './exit-report.ts'
import { ExitCause } from './exit-report.ts'

/** The lowest 8 bits of a stop code: what kind of fault it was. */
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

/** Numbers of Linux on x86-64. */
const Signal = { Ill: 4, Bus: 7, Fpe: 8, Segv: 11, Sys: 31 } as const
const outOfMemoryErrno = 12

const reasonBySignal = new Map<number, StopCodeReason>([
  [Signal.Segv, StopCodeReason.Segmentation],
  [Signal.Bus, StopCodeReason.PageFault],
  [Signal.Fpe, StopCodeReason.Arithmetic],
  [Signal.Ill, StopCodeReason.Instruction],
  [Signal.Sys, StopCodeReason.Security],
])

/** Bits 14-8: the application was executing. Lower numbers are phases before and after, which are not told apart. */
const applicationLevel = 127

interface StopCodeFields {
  /** Bits 7-0. */
  readonly reason: StopCodeReason
  /** Bits 23-16. */
  readonly errno?: number
  /** Bit 15: it happened while the system was shutting down. */
  readonly atShutdown?: boolean
  /** Bits 14-8. */
  readonly level?: number
}

export function packStopCode(fields: StopCodeFields): number {
  const errno = (fields.errno ?? 0) << 16
  const atShutdown = fields.atShutdown === true ? 1 << 15 : 0
  return errno | atShutdown | ((fields.level ?? 0) << 8) | fields.reason
}

export function stopCodeReason(stopCode: number): number {
  return stopCode & 0xff
}

/** The code of an end that came from within: 0 for an orderly one, else the fault and where it happened. */
export function crashCode(exit: ExitReport): number {
  const level = exit.applicationStarted ? applicationLevel : 0
  if (exit.cause === ExitCause.KernelPanic) return packStopCode({ reason: StopCodeReason.Invalid, level })
  if (exit.outOfMemory === true) {
    return packStopCode({ reason: StopCodeReason.PageFault, errno: outOfMemoryErrno, level })
  }
  if (exit.signal === undefined) return packStopCode({ reason: StopCodeReason.Ok })
  return packStopCode({ reason: reasonBySignal.get(exit.signal) ?? StopCodeReason.Invalid, level })
}
