import type { Asked } from './decision.ts'

/**
 * What was done and seen in the present phase. Plain JSON without secrets; what is absent did not happen yet.
 */
export interface RolloutProgress {
  readonly asked?: readonly Asked[]
  /** By the instance's UUID: how many checks in a row succeeded, and why the last one failed. */
  readonly checks?: Readonly<Record<string, { readonly passed: number; readonly failed?: string }>>
  readonly checkedAtMs?: number
  /** What each gateway had counted of the new version when the step began. */
  readonly counted?: Readonly<Record<string, CountedTraffic>>
}

/** What one gateway counted of the new version since its start. */
export interface CountedTraffic {
  readonly requests: number
  readonly errors: number
  /** The durations of the requests, by the bounds of `ServiceTraffic`. */
  readonly durations: readonly number[]
}
