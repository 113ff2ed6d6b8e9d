/**
 * The calls that the rest of Roost makes to the workflow of a host, which runs while the host is silent, lost
 * or draining. Every call ends within `callDeadlineMs` and throws `ControlUnavailable` if Temporal did not
 * answer in time. The watch of terms repeats what is lost.
 */
export interface HostControl {
  /** Starts the workflow, unless it runs. */
  ensureStarted(hostId: string): Promise<void>
  /** Has the workflow look at its host now, and starts it first if it does not run. */
  lookAgain(hostId: string): Promise<void>
}
