/**
 * What a host observed of the end of one boot. It holds observations only: `stop-reason.ts` turns it, with
 * what was asked of the instance, into the numbers the API shows.
 */
export const ExitCause = {
  /** The guest reported how the application ended and then powered off. */
  Guest: 'guest',
  /** The guest's kernel panicked. */
  KernelPanic: 'kernel-panic',
  /** The guest powered off or reset without a report: a kernel of the user's own that shut down by itself. */
  GuestShutdown: 'guest-shutdown',
  /** The agent killed the VM because a forced stop or a delete asked for it. */
  Forced: 'forced',
  /** The VMM process ended in a way nobody asked for (killed, crashed). */
  VmmLost: 'vmm-lost',
  /** The platform halted or the host rebooted: not the instance's doing, it is started again afterwards. */
  HostHalted: 'host-halted',
} as const
export type ExitCause = (typeof ExitCause)[keyof typeof ExitCause]

export interface ExitReport {
  /** Which boot of the instance ended; boots are numbered from 1 by the instance's workflow. */
  readonly boot: number
  readonly cause: ExitCause
  /** The application's exit code, 0 to 255, when it exited by itself or on the shutdown signal. */
  readonly exitCode?: number
  /** The signal that ended the application, when one did. */
  readonly signal?: number
  /** The guest's out-of-memory killer ended the application. */
  readonly outOfMemory?: boolean
  /** The application had been entered before the end. */
  readonly applicationStarted: boolean
  /** The guest had to kill the application because it outlived the shutdown grace. */
  readonly killedAtShutdown?: boolean
  /** When it ended, milliseconds since the epoch. */
  readonly atMs: number
}
