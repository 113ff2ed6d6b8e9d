import { LeasePhase } from '../standby/host-lease-phase.ts'
import { InstanceState } from './state.ts'
import type { StartReport } from './start-report.ts'

/**
 * What a host reports of an instance that is awake. A host wakes an instance by itself and reports it to the
 * workflow afterwards, so for a moment the host knows more than the row that the workflow writes.
 */
export interface AwakeInstance {
  readonly boot: number
  readonly state: InstanceState
  /** The report of the start. It is absent while this boot is still coming up. */
  readonly started?: StartReport
}

/**
 * The instances that are awake, by UUID. An instance that sleeps, is stopped or is unknown to the host is
 * left out.
 */
export type AwakeInstances = Readonly<Record<string, AwakeInstance>>

/**
 * The state that follows from each lease phase. It is undefined if the host knows nothing beyond the row:
 * nothing is awake, or the workflow itself is ending the instance.
 */
const states = {
  [LeasePhase.None]: undefined,
  [LeasePhase.Starting]: InstanceState.Starting,
  [LeasePhase.Running]: InstanceState.Running,
  [LeasePhase.Draining]: InstanceState.Draining,
  [LeasePhase.StandingBy]: InstanceState.Running,
  [LeasePhase.Asleep]: undefined,
  [LeasePhase.Held]: undefined,
  [LeasePhase.Waking]: InstanceState.Starting,
  [LeasePhase.Stopping]: undefined,
} as const satisfies Record<LeasePhase, InstanceState | undefined>

export function awakeState(phase: LeasePhase): InstanceState | undefined {
  return states[phase]
}
