import { AdjustmentType } from './policy.ts'
import type { AutoscaleMetric, AutoscalePolicy, AutoscaleStep } from './policy.ts'

/** A value of each metric, per instance. */
export type MetricValues = Readonly<Record<AutoscaleMetric, number>>

/** The size that a policy wants for the measured values. */
export interface SizeProposal {
  /** The wanted number of instances. The configuration does not bound it; it is never below 0. */
  readonly size: number
  readonly policy: string
  readonly metric: AutoscaleMetric
  readonly value: number
  readonly step: AutoscaleStep
}

/**
 * Evaluates all policies and returns the largest size; of equal sizes, that of the policy that comes first.
 * Returns undefined if no policy applies. `base` is the number of instances that were measured.
 */
export function proposeSize(
  policies: readonly AutoscalePolicy[],
  base: number,
  metrics: MetricValues,
): SizeProposal | undefined {
  let largest: SizeProposal | undefined
  for (const policy of policies) {
    const value = metrics[policy.metric]
    const step = stepFor(policy.steps, value)
    if (step === undefined) continue
    const size = adjustedSize(policy.adjustmentType, base, step.adjustment)
    if (largest === undefined || size > largest.size)
      largest = { size, policy: policy.name, metric: policy.metric, value, step }
  }
  return largest
}

/** Returns the step for a value. A value that equals a bound belongs to the step that begins there. */
export function stepFor(steps: readonly AutoscaleStep[], value: number): AutoscaleStep | undefined {
  return steps.find(
    ({ lowerBound = -Infinity, upperBound = Infinity }) => lowerBound <= value && value < upperBound,
  )
}

export function adjustedSize(type: AdjustmentType, base: number, adjustment: number): number {
  return Math.max(0, adjusted[type](base, adjustment))
}

const adjusted = {
  [AdjustmentType.Change]: (base, adjustment) => base + adjustment,
  [AdjustmentType.Exact]: (_base, adjustment) => adjustment,
  [AdjustmentType.Percent]: (base, adjustment) => base + shareOf(base, adjustment),
} satisfies Record<AdjustmentType, (base: number, adjustment: number) => number>

/**
 * How many instances a percentage adds or removes. Growth is rounded up. Shrinking is rounded so that fewer
 * instances are removed, but at least one is. So the result is 0 only if an argument is 0.
 */
function shareOf(base: number, percent: number): number {
  const share = (base * percent) / 100
  if (share > 0) return Math.ceil(share)
  return share < 0 ? Math.min(-1, Math.ceil(share)) : 0
}
