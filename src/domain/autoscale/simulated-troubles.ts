import type { AutoscaleMember } from './members.ts'
import { InstanceState } from '../instance/state.ts'

/** Troubles of the instances of a simulated service, other than clones that do not start. */
export interface SimulatedTroubles {
  /** Whether the master is stopped by hand. It starts again when that is over. */
  readonly isMasterStopped?: (atMs: number) => boolean
  /** Whether a running clone ends, without anybody starting it again. */
  readonly isCrashing?: (name: string, atMs: number) => boolean
  /** Whether the master's host, one of two, is gone. */
  readonly isHostGone?: (atMs: number) => boolean
}

/** The two hosts of a service. Every other clone is on the master's host, unless that is gone. */
export const SimulatedHost = { OfMaster: 'one', Other: 'two' } as const

export function hostFor(nth: number, troubles: SimulatedTroubles, nowMs: number): string {
  const isThere = troubles.isHostGone?.(nowMs) !== true
  return isThere && nth % 2 === 0 ? SimulatedHost.OfMaster : SimulatedHost.Other
}

/** Returns the instance after the troubles of this moment. */
export function befall(member: AutoscaleMember, troubles: SimulatedTroubles, nowMs: number): AutoscaleMember {
  const { isHostGone: _before, ...rest } = member
  const isGone = member.nodeId === SimulatedHost.OfMaster && troubles.isHostGone?.(nowMs) === true
  const there = isGone ? { ...rest, isHostGone: true as const } : rest
  const { isMaster, name, state, startCount } = there
  const isStopped = isMaster ? troubles.isMasterStopped?.(nowMs) : troubles.isCrashing?.(name, nowMs)
  if (isStopped === true && state === InstanceState.Running)
    return { ...there, state: InstanceState.Stopped, stateSinceMs: nowMs }
  const starts = isMaster && state === InstanceState.Stopped && isStopped !== true
  return starts
    ? { ...there, state: InstanceState.Starting, stateSinceMs: nowMs, startCount: startCount + 1 }
    : there
}
