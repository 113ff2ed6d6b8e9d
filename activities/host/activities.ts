import type { HostPhase, HostTold } from '../../src/domain/host/loss.ts'

/** What the workflow of a host asks. */
export interface HostLook extends HostTold {
  readonly hostId: string
  /** The clock of the workflow, by which the times in what was told last were noted. */
  readonly atMs: number
}

/** What the workflow of a host does after a call. */
export interface HostNext extends HostTold {
  /** How long to wait before the next look. Absent: there is nothing to do, or no such host any more. */
  readonly waitMs?: number
  readonly phase: HostPhase
  /** What is awaited, for people. */
  readonly now: string
  /** What this call did, in words without secrets. */
  readonly done: readonly string[]
}

/** The calls of a host's workflow. What is to be done is in the rows, and in what the watch saw. */
export interface HostLossActivities {
  /** Looks at the host and does what is due. Idempotent. */
  continueHost(look: HostLook): Promise<HostNext>
}
