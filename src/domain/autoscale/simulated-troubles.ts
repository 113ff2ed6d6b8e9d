import type { AutoscaleMember } from './members.ts'
import { InstanceState } from '../instance/state.ts'

/** What befalls the instances of a simulated service, other than clones that do not start. */
export interface SimulatedTroubles {
  /** The master is stopped by hand, and started again when that is over. */
  readonly isMasterStopped?: (atMs: number) => boolean
  /** A clone that runs ends, and nobody starts it again. */
  readonly isCrashing?: (name: string, atMs: number) => boolean
  /** The one of two hosts on which the master is. */
  readonly isHostGone?: (atMs: number) => boolean
}

/** Where a service has its instances: every other clone on the host of the master, while that is there. */
export const SimulatedHost = { OfMaster: 'one', Other: 'two' } as const

export function hostFor(nth: number, troubles: SimulatedTroubles, nowMs: number): string {
  const isThere = troubles.isHostGone?.(nowMs) !== true
  return isThere && nth % 2 === 0 ? SimulatedHost.OfMaster : SimulatedHost.Other
}

/** An instance after what has come over it. */
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
