import type { Asked } from './decision.ts'

/**
 * What was done and seen in the present phase. Plain JSON without secrets; what is absent did not happen yet.
 */
export interface RolloutProgress {
  readonly asked?: readonly Asked[]
  /** By the instance's UUID. */
  readonly checks?: Readonly<Record<string, CheckProgress>>
  /** What gateways counted of the new version. It outlives the phase. */
  readonly traffic?: WatchedTraffic
}

/** What the checks of one instance found. */
export interface CheckProgress {
  /** How many checks in a row succeeded. */
  readonly passed: number
  /** Why the last check failed. */
  readonly failed?: string
  /** When the last check ended. Absent: the instance was not checked yet, or it could not be started. */
  readonly checkedAtMs?: number
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
