import type { AutoscaleMetric } from './policy.ts'
import { InstanceState } from '../instance/state.ts'

/** An instance of an autoscaled service as its row tells it; never one that autoscale gives back already. */
export interface AutoscaleMember {
  readonly uuid: string
  readonly name: string
  /** The one that is cloned. It is never given back. */
  readonly isMaster: boolean
  readonly nodeId: string
  readonly state: InstanceState
  /** Since when it is in that state. */
  readonly stateSinceMs: number
  readonly createdAtMs: number
  /** Of the run that it is in, or the last one; absent before the first. */
  readonly startedAtMs?: number
  readonly startCount: number
  /** Restarts in the sequence that is under way. */
  readonly restartAttempt: number
  readonly restartNextAtMs?: number
  /** Why its last start failed, or its last wake; absent once one has succeeded. */
  readonly failure?: string
  /**
   * Its host has been silent for so long that it gets no new instances: whether this one still serves is not
   * known.
   */
  readonly isHostLost?: true
  /**
   * Its host has been silent for `hostGoneAfterMs` in which another one was heard: it is not relied on until
   * that is back.
   */
  readonly isHostGone?: true
}

/**
 * What an instance is to autoscale: whether it is one of the size, and whether its load is part of the
 * metric.
 */
export const Standing = {
  /** Runs and has warmed up: of the size, and measured. */
  Counted: 'counted',
  /** Sleeps: of the size, and its load is known to be 0. */
  Asleep: 'asleep',
  /** Starts, or runs and warms up: of the size, not measured; nobody is given back meanwhile. */
  Warming: 'warming',
  /** Waits for its restart policy: as one that warms up. */
  Restarting: 'restarting',
  /** A clone that never got ready, or fails again and again: not of the size, and to be replaced. */
  Failed: 'failed',
  /** Stopped or on its way there, or a master that fails: not of the size. A clone of these is given back. */
  Down: 'down',
  /** Its host is gone: not of the size, and left alone. It may be of use again when the host is back. */
  Away: 'away',
} as const
export type Standing = (typeof Standing)[keyof typeof Standing]

/**
 * What one instance does at present, per metric. Absent where its host does not tell, or did not tell for
 * long enough yet.
 */
export type MemberLoad = Readonly<Record<AutoscaleMetric, number>>

/**
 * A clone that was not up for the first time so long after it was created is replaced; so is one that for so
 * long does not come up again.
 */
export const startLimitMs = 60_000
/**
 * Restarts in a row after which an instance is not relied on any more; by the restart policy's back-off, 15 s
 * after the first crash.
 */
export const restartsToFailure = 3
/**
 * A host that restarts its machine may be back by then; not so long as to leave a service short of an
 * instance for minutes.
 */
export const hostGoneAfterMs = 60_000

export function standingOf(
  member: AutoscaleMember,
  { warmupMs }: { readonly warmupMs: number },
  nowMs: number,
): Standing {
  if (failureOf(member, nowMs) !== undefined) return Standing.Failed
  // Only a master gets here like that. Another one stands in for it until it runs without problems.
  if (troubleOf(member, nowMs) !== undefined) return Standing.Down
  const standing = byState[member.state](member, warmupMs, nowMs)
  return member.isHostGone === true && isOfSize({ standing }) ? Standing.Away : standing
}

/** How many instances there are of those that a size means. */
export function sizeOf(members: readonly { readonly standing: Standing }[]): number {
  return members.filter(isOfSize).length
}

export function isOfSize({ standing }: { readonly standing: Standing }): boolean {
  return countsForSize[standing]
}

/** Why a clone is to be replaced, for people; undefined where it is not, and of a master. */
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

/** Why an instance that has run is not relied on, a master as well as a clone. */
function troubleOf(member: AutoscaleMember, nowMs: number): string | undefined {
  const { state, stateSinceMs, startedAtMs, restartAttempt, failure } = member
  if (restartAttempt >= restartsToFailure)
    return `it was restarted ${restartAttempt} times in a row${failure === undefined ? '' : `: ${failure}`}`
  if (failure === undefined) return undefined
  if (state === InstanceState.Standby) return `it does not wake: ${failure}`
  // Without a failure it waits for others that start, as after a restart of the whole host.
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
 * Only the first run is warmed up: who wakes from standby counts at once, or a sleeper's load would never be
 * seen.
 */
function whileRunning(
  { startCount, startedAtMs }: AutoscaleMember,
  warmupMs: number,
  nowMs: number,
): Standing {
  const isWarm = startCount > 1 || (startedAtMs !== undefined && nowMs >= startedAtMs + warmupMs)
  return isWarm ? Standing.Counted : Standing.Warming
}
