import type { AutoscaleOutcome, RestReason } from './outcome.ts'
import type { MemberLoad } from './members.ts'
import type { AutoscaleMetric } from './policy.ts'

/** The input of a watch: what the workflow knows and the rows do not. */
export interface WatchInput {
  readonly serviceUuid: string
  readonly target?: number
  readonly blockedUntilMs?: number
  readonly failedAtMs?: number
}

/** `closing` means that the configuration is deleted, or does not exist. */
export type WatchResult = AutoscaleOutcome | { readonly kind: 'closing' }

/** What a watch saw last. It is sent in heartbeats, for people. Plain JSON. */
export interface AutoscaleView {
  /**
   * The time of the last look. Before the first look, this and all fields that come from a look are absent.
   */
  readonly atMs?: number
  readonly size?: number
  readonly target?: number
  /** The means on which decisions rest. They are absent until there are enough looks. */
  readonly metrics?: Readonly<Record<AutoscaleMetric, number>>
  readonly rest?: RestReason
  /** The known loads of running instances by name, at most `viewedLoads` of them. */
  readonly loads?: Readonly<Record<string, MemberLoad>>
  /** Why no look has succeeded since `atMs`. The text never contains a secret. */
  readonly trouble?: string
}

/** The largest number of loads in a view. A view is sent every few seconds, so it has to stay small. */
export const viewedLoads = 16
