import type { AutoscaleMetric } from './policy.ts'
import { InstanceState } from '../instance/state.ts'

/**
 * An instance of an autoscaled service, as read from its row. Clones that autoscale is giving back are left
 * out.
 */
export interface AutoscaleMember {
  readonly uuid: string
  readonly name: string
  /** Whether this is the instance that is cloned. It is never given back. */
  readonly isMaster: boolean
  readonly nodeId: string
  readonly state: InstanceState
  /** When the instance entered that state. */
  readonly stateSinceMs: number
  readonly createdAtMs: number
  /** The start of its present run, or of its last one; absent before the first. */
  readonly startedAtMs?: number
  readonly startCount: number
  /** Restarts in the present restart sequence. */
  readonly restartAttempt: number
  readonly restartNextAtMs?: number
  /** Why its last start or wake failed; absent once one has succeeded. */
  readonly failure?: string
  /**
   * Present if the host has been silent for so long that it gets no new instances. Whether this instance
   * still serves is unknown then.
   */
  readonly isHostLost?: true
  /**
   * Present if the host has been silent for `hostGoneAfterMs` while another host was heard. The instance is
   * not relied on until its host is back.
   */
  readonly isHostGone?: true
}

/**
 * How autoscale counts an instance: whether it counts for the size, and whether its load is part of the
 * metric.
 */
export const Standing = {
  /** Runs and has warmed up: counts for the size, and is measured. */
  Counted: 'counted',
  /** Sleeps: counts for the size, and its load is known to be 0. */
  Asleep: 'asleep',
  /** Starts, or runs and warms up: counts for the size, is not measured. No clone is given back meanwhile. */
  Warming: 'warming',
  /** Waits for its restart policy: treated like a warming instance. */
  Restarting: 'restarting',
  /**
   * A clone that is stopped, did not get ready, or fails again and again: does not count, and is replaced.
   */
  Failed: 'failed',
  /**
   * Draining or stopping, or a master that is stopped or fails: does not count. A clone in this standing is
   * given back.
   */
  Down: 'down',
  /**
   * Its host is gone: does not count, and is neither used nor given back. It may be of use again when the
   * host is back.
   */
  Away: 'away',
} as const
export type Standing = (typeof Standing)[keyof typeof Standing]

/**
 * The present load of one instance, per metric. There is none if its host does not report it, or has not
 * reported it for long enough yet.
 */
export type MemberLoad = Readonly<Record<AutoscaleMetric, number>>

/**
 * How long a clone may take to come up after it was created, or may fail to come up again, before it is
 * replaced.
 */
export const startLimitMs = 60_000
/**
 * How many restarts in a row it takes until an instance is not relied on. By the back-off of the restart
 * policy, that is 15 s after the first crash.
 */
export const restartsToFailure = 3
/**
 * How long a host may be silent before it counts as gone. A machine that restarts may be back by then, and
 * a service does not lack an instance for minutes.
 */
export const hostGoneAfterMs = 60_000

export function standingOf(
  member: AutoscaleMember,
  { warmupMs }: { readonly warmupMs: number },
  nowMs: number,
): Standing {
  if (failureOf(member, nowMs) !== undefined) return Standing.Failed
  // A member with trouble that gets here is a master. Another instance does its work until it runs without
  // problems.
  if (troubleOf(member, nowMs) !== undefined) return Standing.Down
  const standing = byState[member.state](member, warmupMs, nowMs)
  return member.isHostGone === true && isOfSize({ standing }) ? Standing.Away : standing
}

/** How many of the members count for the size. */
export function sizeOf(members: readonly { readonly standing: Standing }[]): number {
  return members.filter(isOfSize).length
}

export function isOfSize({ standing }: { readonly standing: Standing }): boolean {
  return countsForSize[standing]
}

/** Says, for people, why a clone is to be replaced. Returns undefined if it is not, and for a master. */
export function failureOf(member: AutoscaleMember, nowMs: number): string | undefined {
  const { isMaster, state, createdAtMs, startedAtMs, restartNextAtMs, failure } = member
  if (isMaster) return undefined
  const trouble = troubleOf(member, nowMs)
  if (trouble !== undefined) return trouble
  const because = failure === undefined ? '' : `: ${failure}`
  const hasStarted = startedAtMs !== undefined
  if (state === InstanceState.Stopped && restartNextAtMs === undefined)
    return `it ${hasStarted ? 'is stopped' : 'did not start'}${because}`
  return hasStarted || state === InstanceState.Standby || nowMs < createdAtMs + startLimitMs
    ? undefined
    : `it did not start within ${startLimitMs / 1_000} s${because}`
}

/** Says why an instance that has run is not relied on, whether it is a master or a clone. */
function troubleOf(member: AutoscaleMember, nowMs: number): string | undefined {
  const { state, stateSinceMs, startedAtMs, restartAttempt, failure } = member
  if (restartAttempt >= restartsToFailure)
    return `it was restarted ${restartAttempt} times in a row${failure === undefined ? '' : `: ${failure}`}`
  // Without a failure the instance may only wait for its turn to start, as after a restart of its host.
  if (failure === undefined) return undefined
  if (state === InstanceState.Standby) return `it does not wake: ${failure}`
  const comesBack = state === InstanceState.Starting && startedAtMs !== undefined
  return comesBack && nowMs >= stateSinceMs + startLimitMs
    ? `it does not come up again: ${failure}`
    : undefined
}

const countsForSize = {
  [Standing.Counted]: true,
  [Standing.Asleep]: true,
  [Standing.Warming]: true,
  [Standing.Restarting]: true,
  [Standing.Failed]: false,
  [Standing.Down]: false,
  [Standing.Away]: false,
} satisfies Record<Standing, boolean>

const byState = {
  [InstanceState.Stopped]: ({ restartNextAtMs }) =>
    restartNextAtMs === undefined ? Standing.Down : Standing.Restarting,
  [InstanceState.Starting]: () => Standing.Warming,
  [InstanceState.Running]: whileRunning,
  [InstanceState.Draining]: () => Standing.Down,
  [InstanceState.Stopping]: () => Standing.Down,
  [InstanceState.Standby]: () => Standing.Asleep,
} satisfies Record<InstanceState, (member: AutoscaleMember, warmupMs: number, nowMs: number) => Standing>

/**
 * The standing of a running member. Only the first run warms up. An instance that wakes from standby counts
 * at once; otherwise the load of an instance that sleeps often would never be seen.
 */
function whileRunning(
  { startCount, startedAtMs }: AutoscaleMember,
  warmupMs: number,
  nowMs: number,
): Standing {
  const isWarm = startCount > 1 || (startedAtMs !== undefined && nowMs >= startedAtMs + warmupMs)
  return isWarm ? Standing.Counted : Standing.Warming
}
