import type { addAutoscalePolicies } from '../../contract/autoscale/operations.ts'
import { problem } from '../../contract/errors.ts'
import type { Problem } from '../../contract/errors.ts'
import type { OperationBody } from '../../contract/operation.ts'
import { shortened } from '../../contract/request/validation-problems.ts'
import { AdjustmentType, AutoscaleMetric } from '../../domain/autoscale/policy.ts'
import type { AutoscalePolicy } from '../../domain/autoscale/policy.ts'
import { exactAlias, findPolicyProblems, resolvePolicy } from '../../domain/autoscale/steps.ts'
import type { PolicyProblem, WrittenPolicy } from '../../domain/autoscale/steps.ts'
import type { Read } from '../body-identifier.ts'

type Body = OperationBody<typeof addAutoscalePolicies>

/** Reads policies from bodies. If anything is wrong with any of them, returns all problems. */
export function readPolicies(bodies: readonly Body[]): Read<readonly AutoscalePolicy[]> {
  const written = bodies.map(writtenPolicy)
  const problems = written.flatMap((policy) =>
    findPolicyProblems(policy).map((found) => policyProblem(found, policy)),
  )
  return problems.length > 0 ? { ok: false, problems } : { ok: true, value: written.map(resolvePolicy) }
}

function writtenPolicy({ name, metric, adjustment_type: adjustmentType, steps }: Body): WrittenPolicy {
  return {
    name,
    ...(metric !== undefined && { metric }),
    ...(adjustmentType !== undefined && { adjustmentType }),
    steps: steps.map(({ lower_bound: lowerBound, upper_bound: upperBound, adjustment }) => ({
      ...(lowerBound !== undefined && { lowerBound }),
      ...(upperBound !== undefined && { upperBound }),
      adjustment,
    })),
  }
}

/** The sentence for a problem. It names the policy by its name and the step by its place in the list. */
function policyProblem(found: PolicyProblem, policy: WrittenPolicy): Problem {
  const write = sentences[found.kind] as (found: PolicyProblem, where: Where) => Problem
  return write(found, { place: `policy '${shortened(policy.name)}'`, policy })
}

interface Where {
  readonly place: string
  readonly policy: WrittenPolicy
}
type Found<Kind extends PolicyProblem['kind']> = Extract<PolicyProblem, { readonly kind: Kind }>

/** The table is total: a rule without a sentence does not compile. */
const sentences: {
  readonly [Kind in PolicyProblem['kind']]: (found: Found<Kind>, where: Where) => Problem
} = {
  'name-too-long': ({ length, max }, { place }) => problem('policyNameTooLong', { place, length, max }),
  'name-invalid': ({ name }) => problem('invalidName', { value: shortened(name) }),
  'unknown-metric': ({ metric }) => unknownWord('metric', metric, Object.values(AutoscaleMetric)),
  'unknown-adjustment-type': ({ adjustmentType }) =>
    unknownWord('adjustment_type', adjustmentType, [...Object.values(AdjustmentType), exactAlias]),
  'no-steps': (_found, { place }) => problem('noSteps', { place }),
  'too-many-steps': ({ count, max }, { place }) =>
    problem('tooManyElements', { name: 'steps', in: ` in ${place}`, count, limit: max }),
  'bound-out-of-range': ({ step, bound, value, min, max }, { place }) =>
    problem('stepOutOfRange', { name: `${bound}_bound`, step: nameOf(step), place, value, min, max }),
  'adjustment-out-of-range': ({ step, value, min, max }, { place }) =>
    problem('stepOutOfRange', { name: 'adjustment', step: nameOf(step), place, value, min, max }),
  'exact-negative': ({ step, adjustment }, { place }) =>
    problem('negativeExact', { step: nameOf(step), place, value: adjustment }),
  'both-open': ({ step }, { place }) => problem('openStep', { step: nameOf(step), place }),
  'lower-not-below-upper': ({ step, lowerBound: lower, upperBound: upper }, { place }) =>
    problem('crossedBounds', { step: nameOf(step), place, lower, upper }),
  unsorted: ({ step, previous }, { place, policy }) => {
    const lower = policy.steps[step]?.lowerBound ?? undefined
    const begins = lower === undefined ? 'has no lower bound' : `begins at ${lower}`
    const bound = policy.steps[previous]?.lowerBound ?? 0
    return problem('unsortedSteps', {
      place,
      step: nameOf(step),
      previous: nameOf(previous),
      begins,
      bound,
    })
  },
  overlap: ({ step, previous, from, to }, { place }) =>
    problem('overlappingSteps', {
      place,
      step: nameOf(step),
      previous: nameOf(previous),
      range: rangeOf(from, to),
    }),
  gap: ({ step, previous, from, to }, { place }) =>
    problem('stepGap', { place, step: nameOf(step), previous: nameOf(previous), from, to }),
}

function unknownWord(name: string, value: string, words: readonly string[]): Problem {
  return problem('invalidValue', { name, value: shortened(value), valid: words.join(', ') })
}

function nameOf(step: number): string {
  return `steps[${step}]`
}

function rangeOf(from: number | undefined, to: number | undefined): string {
  if (from === undefined) return to === undefined ? 'everywhere' : `below ${to}`
  return to === undefined ? `from ${from} on` : `from ${from} to ${to}`
}
