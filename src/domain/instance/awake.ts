import { Phase } from '../standby/host-lease-state.ts'
import { InstanceState } from './state.ts'
import type { StartReport } from './start-report.ts'

/**
 * What a host says of an instance that is awake. A host wakes an instance by itself and tells the workflow afterwards, so
 * for a moment the host knows more than the row that the workflow writes.
 */
export interface AwakeInstance {
  readonly boot: number
  readonly state: InstanceState
  /** Absent while this boot is still coming up. */
  readonly started?: StartReport
}

/** By uuid. An instance that sleeps, is stopped or is unknown to the host is not in it. */
export type AwakeInstances = Readonly<Record<string, AwakeInstance>>

/** Undefined where the host has nothing to add: nothing is awake, or the workflow itself is ending the instance. */
const states = {
  [Phase.None]: undefined,
  [Phase.Starting]: InstanceState.Starting,
  [Phase.Running]: InstanceState.Running,
  [Phase.Draining]: InstanceState.Draining,
  [Phase.StandingBy]: InstanceState.Running,
  [Phase.Asleep]: undefined,
  [Phase.Waking]: InstanceState.Starting,
  [Phase.Stopping]: undefined,
} as const satisfies Record<Phase, InstanceState | undefined>

export function awakeState(phase: Phase): InstanceState | undefined {
  return states[phase]
}
