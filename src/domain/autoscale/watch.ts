import type { AutoscaleOutcome, RestReason } from './outcome.ts'
import type { MemberLoad } from './members.ts'
import type { AutoscaleMetric } from './policy.ts'

/** What a workflow knows that the rows do not. */
export interface WatchInput {
  readonly serviceUuid: string
  readonly target?: number
  readonly blockedUntilMs?: number
  readonly failedAtMs?: number
}

/** `closing`: the configuration is deleted, or there is none. */
export type WatchResult = AutoscaleOutcome | { readonly kind: 'closing' }

/** What a watch saw last; it goes into heartbeats, for people. Plain JSON. */
export interface AutoscaleView {
  /** Of the last look; absent before the first, with all that a look tells. */
  readonly atMs?: number
  readonly size?: number
  readonly target?: number
  /** The means that are decided by; absent while there are not enough looks. */
  readonly metrics?: Readonly<Record<AutoscaleMetric, number>>
  readonly rest?: RestReason
  /** By name, of those that run and whose load is known; at most `viewedLoads` of them. */
  readonly loads?: Readonly<Record<string, MemberLoad>>
  /** Why nothing was seen since; never a secret. */
  readonly trouble?: string
}

/** A view is sent every few seconds, so it stays small. */
export const viewedLoads = 16
