import type { AutoscaleMember, MemberLoad, Standing } from './members.ts'
import type { AutoscaleConfiguration } from './policy.ts'

/** One look at a service. */
export interface AutoscaleObservation {
  readonly nowMs: number
  readonly configuration: AutoscaleConfiguration
  readonly members: readonly (AutoscaleMember & { readonly standing: Standing; readonly load?: MemberLoad })[]
  /** The size that was last decided on. */
  readonly target: number
  /** Until then nothing is added: what was tried last failed. */
  readonly blockedUntilMs?: number
  /** Since then something failed: told when an instance that is younger than that has warmed up. */
  readonly failedAtMs?: number
}
