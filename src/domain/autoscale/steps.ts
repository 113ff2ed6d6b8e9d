import { AdjustmentType, AutoscaleMetric } from './policy.ts'
import type { AutoscalePolicy, AutoscaleStep } from './policy.ts'
import { parseObjectName } from '../object-name.ts'

export const maxPoliciesPerService = 16
export const maxStepsPerPolicy = 16
export const maxPolicyNameLength = 31
/** The range of a bound, in the unit of its metric. No metric is ever below 0. */
export const boundRange = { min: 0, max: 1_000_000_000 } as const
/** The range of an adjustment. It is far beyond every size, and small enough that sums with it are exact. */
export const adjustmentRange = { min: -1_000_000, max: 1_000_000 } as const

/** A policy as its user wrote it. Nobody has checked the words of its vocabularies yet. */
export interface WrittenPolicy {
  readonly name: string
  readonly metric?: string
  readonly adjustmentType?: string
  readonly steps: readonly WrittenStep[]
}

export interface WrittenStep {
  readonly lowerBound?: number | null
  readonly upperBound?: number | null
  readonly adjustment: number
}

export const StepBound = { Lower: 'lower', Upper: 'upper' } as const
export type StepBound = (typeof StepBound)[keyof typeof StepBound]

/**
 * A problem of a policy. `step` and `previous` count from 0, in the order in which the steps were written.
 */
export type PolicyProblem =
  | { readonly kind: 'name-too-long'; readonly length: number; readonly max: number }
  | { readonly kind: 'name-invalid'; readonly name: string }
  | { readonly kind: 'unknown-metric'; readonly metric: string }
  | { readonly kind: 'unknown-adjustment-type'; readonly adjustmentType: string }
  | { readonly kind: 'no-steps' }
  | { readonly kind: 'too-many-steps'; readonly count: number; readonly max: number }
  | (OutOfRange & { readonly kind: 'bound-out-of-range'; readonly bound: StepBound })
  | (OutOfRange & { readonly kind: 'adjustment-out-of-range' })
  | { readonly kind: 'exact-negative'; readonly step: number; readonly adjustment: number }
  | { readonly kind: 'both-open'; readonly step: number }
  | {
      readonly kind: 'lower-not-below-upper'
      readonly step: number
      readonly lowerBound: number
      readonly upperBound: number
    }
  /** The step begins below the one that is written before it. */
  | { readonly kind: 'unsorted'; readonly step: number; readonly previous: number }
  /**
   * Two steps overlap between `from` and `to`. If one of these is absent, the range has no bound on that
   * side.
   */
  | {
      readonly kind: 'overlap'
      readonly step: number
      readonly previous: number
      readonly from?: number
      readonly to?: number
    }
  | {
      readonly kind: 'gap'
      readonly step: number
      readonly previous: number
      readonly from: number
      readonly to: number
    }

interface OutOfRange {
  readonly step: number
  readonly value: number
  readonly min: number
  readonly max: number
}

/** Returns all problems of a policy. If there are none, `resolvePolicy` accepts it. */
export function findPolicyProblems(policy: WrittenPolicy): PolicyProblem[] {
  return [...nameProblems(policy.name), ...wordProblems(policy), ...stepsProblems(policy)]
}

/** Fills in the defaults of a policy. The policy must have no problems. */
export function resolvePolicy({ name, metric, adjustmentType, steps }: WrittenPolicy): AutoscalePolicy {
  return {
    name: parseObjectName(name) ?? name,
    metric: parseMetric(metric) ?? AutoscaleMetric.Cpu,
    adjustmentType: parseAdjustmentType(adjustmentType) ?? AdjustmentType.Change,
    steps: steps.map(resolveStep),
  }
}

/** `absolute` is what some clients call `exact`. */
export const exactAlias = 'absolute'

function parseMetric(word = AutoscaleMetric.Cpu as string): AutoscaleMetric | undefined {
  return Object.values(AutoscaleMetric).find((metric) => metric === word)
}

function parseAdjustmentType(word = AdjustmentType.Change as string): AdjustmentType | undefined {
  if (word === exactAlias) return AdjustmentType.Exact
  return Object.values(AdjustmentType).find((type) => type === word)
}

function resolveStep({ lowerBound, upperBound, adjustment }: WrittenStep): AutoscaleStep {
  return {
    ...(typeof lowerBound === 'number' && { lowerBound }),
    ...(typeof upperBound === 'number' && { upperBound }),
    adjustment,
  }
}

function nameProblems(name: string): PolicyProblem[] {
  if (name.length > maxPolicyNameLength)
    return [{ kind: 'name-too-long', length: name.length, max: maxPolicyNameLength }]
  return parseObjectName(name) === undefined ? [{ kind: 'name-invalid', name }] : []
}

function wordProblems({ metric, adjustmentType }: WrittenPolicy): PolicyProblem[] {
  const problems: PolicyProblem[] = []
  if (metric !== undefined && parseMetric(metric) === undefined)
    problems.push({ kind: 'unknown-metric', metric })
  if (adjustmentType !== undefined && parseAdjustmentType(adjustmentType) === undefined)
    problems.push({ kind: 'unknown-adjustment-type', adjustmentType })
  return problems
}

function stepsProblems({ steps, adjustmentType }: WrittenPolicy): PolicyProblem[] {
  if (steps.length === 0) return [{ kind: 'no-steps' }]
  if (steps.length > maxStepsPerPolicy)
    return [{ kind: 'too-many-steps', count: steps.length, max: maxStepsPerPolicy }]
  const isExact = parseAdjustmentType(adjustmentType) === AdjustmentType.Exact
  const whole: Placed[] = []
  const problems = steps.flatMap((written, step) => {
    const found = [...boundProblems(written, step), ...adjustmentProblems(written, step, isExact)]
    // A step that is wrong in itself would only cause further, useless messages about order and gaps.
    if (boundProblems(written, step).length === 0) whole.push({ ...resolveStep(written), step })
    return found
  })
  return [...problems, ...orderProblems(whole)]
}

function boundProblems({ lowerBound, upperBound }: WrittenStep, step: number): PolicyProblem[] {
  const lower = lowerBound ?? undefined
  const upper = upperBound ?? undefined
  const problems = [
    ...rangeProblem(step, StepBound.Lower, lower),
    ...rangeProblem(step, StepBound.Upper, upper),
  ]
  if (lower === undefined && upper === undefined) problems.push({ kind: 'both-open', step })
  if (lower !== undefined && upper !== undefined && lower >= upper)
    problems.push({ kind: 'lower-not-below-upper', step, lowerBound: lower, upperBound: upper })
  return problems
}

function rangeProblem(step: number, bound: StepBound, value: number | undefined): PolicyProblem[] {
  if (value === undefined || isWithin(value, boundRange)) return []
  return [{ kind: 'bound-out-of-range', step, bound, value, ...boundRange }]
}

function adjustmentProblems({ adjustment }: WrittenStep, step: number, isExact: boolean): PolicyProblem[] {
  if (!isWithin(adjustment, adjustmentRange))
    return [{ kind: 'adjustment-out-of-range', step, value: adjustment, ...adjustmentRange }]
  return isExact && adjustment < 0 ? [{ kind: 'exact-negative', step, adjustment }] : []
}

function isWithin(value: number, { min, max }: { readonly min: number; readonly max: number }): boolean {
  return Number.isSafeInteger(value) && value >= min && value <= max
}

interface Placed extends AutoscaleStep {
  readonly step: number
}

/** Reports steps that are in the wrong order, then checks gaps and overlaps in the right order. */
function orderProblems(steps: readonly Placed[]): PolicyProblem[] {
  const unsorted = pairs(steps)
    .filter(([before, after]) => startOf(after) < startOf(before))
    .map(([before, after]): PolicyProblem => ({
      kind: 'unsorted',
      step: after.step,
      previous: before.step,
    }))
  const ascending = steps.toSorted((a, b) => startOf(a) - startOf(b) || a.step - b.step)
  return [...unsorted, ...pairs(ascending).flatMap(([before, after]) => seamProblems(before, after))]
}

function seamProblems(before: Placed, after: Placed): PolicyProblem[] {
  const end = before.upperBound ?? Infinity
  const start = startOf(after)
  if (start === end) return []
  const where = { step: after.step, previous: before.step }
  if (start > end) return [{ kind: 'gap', ...where, from: end, to: start }]
  const to = Math.min(end, after.upperBound ?? Infinity)
  return [
    {
      kind: 'overlap',
      ...where,
      ...(Number.isFinite(start) && { from: start }),
      ...(Number.isFinite(to) && { to }),
    },
  ]
}

function startOf({ lowerBound }: AutoscaleStep): number {
  return lowerBound ?? -Infinity
}

function pairs<T>(list: readonly T[]): (readonly [T, T])[] {
  return list.slice(1).map((after, index) => [list[index] as T, after] as const)
}
