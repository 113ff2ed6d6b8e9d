/** What autoscale measures: the mean per instance, over the instances that count. */
export const AutoscaleMetric = {
  /** Millicores: thousandths of a core, as the instance's host accounts for it. */
  Cpu: 'cpu',
  /** Requests in flight and open connections without HTTP, including those that wait. */
  InFlight: 'in_flight',
  /** Requests and connections that were finished in a second. */
  RequestsPerSecond: 'requests_per_second',
} as const
export type AutoscaleMetric = (typeof AutoscaleMetric)[keyof typeof AutoscaleMetric]

export const AdjustmentType = {
  /** Adds or removes this many instances. */
  Change: 'change',
  /** Sets the number of instances. */
  Exact: 'exact',
  /** Adds or removes a percentage of the present number. */
  Percent: 'percent',
} as const
export type AdjustmentType = (typeof AdjustmentType)[keyof typeof AdjustmentType]

/**
 * A step applies if `lowerBound` <= value < `upperBound`. An absent bound means open on that side; never both
 * are absent.
 */
export interface AutoscaleStep {
  readonly lowerBound?: number
  readonly upperBound?: number
  readonly adjustment: number
}

/** A policy of the only type there is, `step`. */
export interface AutoscalePolicy {
  readonly name: string
  readonly metric: AutoscaleMetric
  readonly adjustmentType: AdjustmentType
  /** The steps in ascending order, without a gap or an overlap. */
  readonly steps: readonly AutoscaleStep[]
}

export interface AutoscaleConfiguration {
  readonly minSize: number
  readonly maxSize: number
  readonly warmupMs: number
  readonly cooldownMs: number
  readonly policies: readonly AutoscalePolicy[]
}

export const defaultAutoscale = { minSize: 1, maxSize: 4, warmupMs: 1_000, cooldownMs: 1_000 } as const
