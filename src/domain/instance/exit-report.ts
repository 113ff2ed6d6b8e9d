/**
 * The causes of the end of a boot, as the host observed them. A report holds observations only.
 * `stop-reason.ts` combines it with what was asked of the instance into the numbers that the API shows.
 */
export const ExitCause = {
  /** The guest reported how the application ended and then powered off. */
  Guest: 'guest',
  /** The guest's kernel panicked. */
  KernelPanic: 'kernel-panic',
  /**
   * The guest powered off or reset without a report. A user's own kernel does that when it shuts down by
   * itself.
   */
  GuestShutdown: 'guest-shutdown',
  /** The agent killed the VM because a forced stop or a delete asked for it. */
  Forced: 'forced',
  /** The VMM process ended in a way nobody asked for (killed, crashed). */
  VmmLost: 'vmm-lost',
  /**
   * The platform halted or the host rebooted. The instance did not cause this, so it is started again
   * afterwards.
   */
  HostHalted: 'host-halted',
} as const
export type ExitCause = (typeof ExitCause)[keyof typeof ExitCause]

export interface ExitReport {
  /** The number of the boot that ended. The instance's workflow numbers boots from 1. */
  readonly boot: number
  readonly cause: ExitCause
  /** The application's exit code, 0 to 255, when it exited by itself or on the shutdown signal. */
  readonly exitCode?: number
  /** The signal that ended the application, if one did. */
  readonly signal?: number
  /** Whether the guest's out-of-memory killer ended the application. */
  readonly outOfMemory?: boolean
  /** Whether the application had been entered before the boot ended. */
  readonly applicationStarted: boolean
  /** Whether the guest had to kill the application, because it outlived the shutdown grace. */
  readonly killedAtShutdown?: boolean
  /** When the boot ended, in milliseconds since the epoch. */
  readonly atMs: number
}
