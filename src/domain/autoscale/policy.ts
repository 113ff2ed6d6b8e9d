/** What autoscale looks at: of the instances that count, the mean per instance. */
export const AutoscaleMetric = {
  /** Millicores: thousandths of a core, as its host accounts for it. */
  Cpu: 'cpu',
  /** Requests in flight and open connections without HTTP, those that wait included. */
  InFlight: 'in_flight',
  /** Requests and connections that were finished in a second. */
  RequestsPerSecond: 'requests_per_second',
} as const
export type AutoscaleMetric = (typeof AutoscaleMetric)[keyof typeof AutoscaleMetric]

export const AdjustmentType = {
  /** As many more or fewer. */
  Change: 'change',
  /** So many in all. */
  Exact: 'exact',
  /** A share of those that there are. */
  Percent: 'percent',
} as const
export type AdjustmentType = (typeof AdjustmentType)[keyof typeof AdjustmentType]

/** Applies where `lowerBound` <= value < `upperBound`. Absent: open on that side; never both. */
export interface AutoscaleStep {
  readonly lowerBound?: number
  readonly upperBound?: number
  readonly adjustment: number
}

/** The one type of policy that there is: `step`. */
export interface AutoscalePolicy {
  readonly name: string
  readonly metric: AutoscaleMetric
  readonly adjustmentType: AdjustmentType
  /** Ascending, without gap or overlap. */
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
