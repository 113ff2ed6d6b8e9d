import { ExitCause } from './exit-report.ts'
import type { ExitReport } from './exit-report.ts'

/** Says how a boot ended, for people: a sentence that begins with its subject. */
export function howItEnded(exit: ExitReport): string {
  return byCause[exit.cause](exit)
}

const byCause = {
  [ExitCause.Guest]: applicationEnd,
  [ExitCause.KernelPanic]: () => "its guest's kernel panicked",
  [ExitCause.GuestShutdown]: () => 'its guest shut down by itself',
  [ExitCause.Forced]: () => 'its VM was ended by force',
  [ExitCause.VmmLost]: () => 'its VM ended unexpectedly on the host',
  [ExitCause.HostHalted]: () => 'its host was halted',
} satisfies Record<ExitCause, (exit: ExitReport) => string>

function applicationEnd({ exitCode, signal, outOfMemory, killedAtShutdown }: ExitReport): string {
  if (outOfMemory === true) return 'its application was ended, because the guest ran out of memory'
  if (killedAtShutdown === true) return 'its application did not end in time and was killed'
  if (exitCode !== undefined) return `its application ended with exit code ${exitCode}`
  if (signal !== undefined) return `its application was ended by signal ${signal}`
  return 'its application ended'
}
