import type { Entry } from '../../client/answers.ts'
import type { Autoscale } from './project.ts'

type Found = Entry<'GetAutoscaleAnswer'>

/** The name of the one policy that a project makes. */
const policyName = 'compose'

/**
 * The policy that keeps the mean per instance between half of the target and the target: above it one
 * instance is added, below half of it one is given back.
 */
export function scaleBody({ min, max, metric, target }: Autoscale) {
  const half = Math.floor(target / 2)
  return {
    min_size: min,
    max_size: max,
    policies: [
      {
        name: policyName,
        type: 'step' as const,
        metric,
        adjustment_type: 'change' as const,
        steps: [
          { upper_bound: half, adjustment: -1 },
          { lower_bound: half, upper_bound: target, adjustment: 0 },
          { lower_bound: target, adjustment: 1 },
        ],
      },
    ],
  }
}

/** What a project's labels would say of a configuration; undefined if no labels make it. */
export function scaleOf({ min_size: min, max_size: max, policies = [] }: Found): Autoscale | undefined {
  const [policy] = policies
  const target = policy?.steps.at(-1)?.lower_bound
  if (policy === undefined || target === undefined || min === undefined || max === undefined) return undefined
  const scale = { min, max, metric: policy.metric, target }
  const made = scaleBody(scale).policies[0]!
  const isSame =
    policies.length === 1 &&
    policy.name === made.name &&
    policy.adjustment_type === made.adjustment_type &&
    JSON.stringify(policy.steps.map(stepText)) === JSON.stringify(made.steps.map(stepText))
  return isSame ? scale : undefined
}

function stepText(step: {
  readonly lower_bound?: number
  readonly upper_bound?: number
  readonly adjustment: number
}): string {
  return `${step.lower_bound ?? ''}:${step.upper_bound ?? ''}:${step.adjustment}`
}
