import type { Asked } from './decision.ts'

/**
 * What was done and seen in the present phase. Plain JSON without secrets; what is absent did not happen yet.
 */
export interface RolloutProgress {
  readonly asked?: readonly Asked[]
  /** By the instance's UUID: how many checks in a row succeeded, and why the last one failed. */
  readonly checks?: Readonly<Record<string, { readonly passed: number; readonly failed?: string }>>
  readonly checkedAtMs?: number
  /** What gateways counted of the new version. It outlives the phase. */
  readonly traffic?: WatchedTraffic
}

export interface WatchedTraffic {
  /** What was counted since the step began, also by gateways that have ended since. */
  readonly step: CountedTraffic
  /** What each gateway had counted when it was last heard. */
  readonly last: Readonly<Record<string, GatewayCount>>
}

export interface CountedTraffic {
  readonly requests: number
  readonly errors: number
  /** The durations of the requests, by the bounds of `ServiceTraffic`. */
  readonly durations: readonly number[]
}

/** What one gateway counted of the new version since its start. */
export interface GatewayCount extends CountedTraffic {
  /** Another start of the gateway, which counts from zero, has another name. */
  readonly run: string
}
