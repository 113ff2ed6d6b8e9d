import type { AutoscaleMember, MemberLoad, Standing } from './members.ts'
import type { AutoscaleConfiguration } from './policy.ts'

/** One look at a service. */
export interface AutoscaleObservation {
  readonly nowMs: number
  readonly configuration: AutoscaleConfiguration
  readonly members: readonly (AutoscaleMember & { readonly standing: Standing; readonly load?: MemberLoad })[]
  /** The size that was last decided on. */
  readonly target: number
  /** No instance is added before this time, because the last try failed. */
  readonly blockedUntilMs?: number
  /**
   * The time of the last failure. The failures are over once a clone that is younger has run without a
   * problem.
   */
  readonly failedAtMs?: number
}
