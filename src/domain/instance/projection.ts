import type { HostFailure, MovePlace } from './host-work.ts'
import type { MoveStep } from './lifecycle-state.ts'
import type { InstanceState } from './state.ts'
import type { StartKind } from './start-report.ts'

/**
 * What readers see of an instance's lifecycle. The instance's workflow writes all of it with every
 * transition; times are milliseconds since the epoch. A field that is absent is cleared.
 */
export interface InstanceProjection {
  readonly state: InstanceState
  /** The number of the last boot asked of the host; 0 before the first. */
  readonly boot: number
  readonly startCount: number
  readonly restartCount: number
  /** Restarts in the current sequence. */
  readonly restartAttempt: number
  /**
   * When the next restart is due, while one waits for its back-off. The instance then keeps its share of
   * the live quotas.
   */
  readonly restartNextAtMs?: number
  readonly startedAtMs?: number
  readonly stoppedAtMs?: number
  /**
   * The uptime of the runs that ended. While the instance runs, a reader adds the time since `startedAtMs`.
   */
  readonly uptimeMs: number
  readonly bootTimeUs?: number
  readonly vmmStartTimeUs?: number
  readonly vmmLoadTimeUs?: number
  readonly vmmReadyTimeUs?: number
  readonly netTimeUs?: number
  readonly startKind?: StartKind
  readonly stopReason?: number
  readonly exitCode?: number
  readonly stopCode?: number
  /** Why the last start failed, for people; never a secret. */
  readonly failure?: string
  /** The kind of that failure, if the host has a word for it. */
  readonly failureKind?: HostFailure
  /** In standby: the snapshot that holds the kept memory. */
  readonly snapshotUuid?: string
  /** The version of the configuration with which the last boot was launched. Absent: 0. */
  readonly launchedVersion?: number
  /** The newest version of the configuration that the workflow has heard of. Absent: 0. */
  readonly toldVersion?: number
  /** Whether the instance starts again as soon as it has stopped. Absent: false. */
  readonly restarting?: boolean
  /** Whether the instance itself speaks against standby at present. */
  readonly standbyDisabled?: boolean
  /** Whether a user asked for the present standby, or for one that has not come yet. Absent: false. */
  readonly suspended?: boolean
  /** The move to another host that is under way, or the last one if it failed. */
  readonly move?: InstanceMove
}

/** Plain JSON, kept with the instance. */
export interface InstanceMove {
  readonly from: MovePlace
  readonly to: MovePlace
  /** Absent once the move is over. */
  readonly step?: MoveStep
  /** When this step began, or when the move failed. */
  readonly sinceMs: number
  /** Why its volume could not be copied while it ran, for people. */
  readonly notCopied?: string
  /** Why it failed, for people. */
  readonly failure?: string
}
