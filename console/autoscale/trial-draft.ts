import type { Schemas } from '../../src/client/answers.ts'
import type { FormReading } from '../object/form-reading.ts'
import type { Configuration, Policy } from './configurations.ts'
import type { BoundedPolicy } from './scale-charts.ts'

export type TrialRequest = Schemas['TryAutoscaleParameters']
export type TrialTime = NonNullable<TrialRequest['last']>

/** A step as a person writes it. An empty bound is open. */
export interface StepDraft {
  readonly lower: string
  readonly upper: string
  readonly adjustment: string
}

export interface PolicyDraft extends Pick<Policy, 'name' | 'metric' | 'adjustment_type'> {
  readonly steps: readonly StepDraft[]
}

/** What a person wants to try; times are in seconds. */
export interface TrialDraft {
  readonly last: TrialTime
  readonly minSize: string
  readonly maxSize: string
  readonly warmup: string
  readonly cooldown: string
  readonly policies: readonly PolicyDraft[]
}

/** The present configuration. */
export function draftOf(service: Configuration): TrialDraft {
  const { min_size: min = 1, max_size: max = 1, policies = [] } = service
  const { warmup_time_ms: warmup = 0, cooldown_time_ms: cooldown = 0 } = service
  return {
    last: '1h',
    minSize: String(min),
    maxSize: String(max),
    warmup: String(warmup / 1_000),
    cooldown: String(cooldown / 1_000),
    policies: policies.map(({ name, metric, adjustment_type: type, steps }) => ({
      name,
      metric,
      adjustment_type: type,
      steps: steps.map(({ lower_bound: lower, upper_bound: upper, adjustment }) => ({
        lower: lower === undefined ? '' : String(lower),
        upper: upper === undefined ? '' : String(upper),
        adjustment: String(adjustment),
      })),
    })),
  }
}

const numbers = [
  ['minSize', 'fewest instances', /^\d{1,9}$/],
  ['maxSize', 'most instances', /^\d{1,9}$/],
  ['warmup', 'time before a new one counts', /^\d{1,6}(\.\d{1,3})?$/],
  ['cooldown', 'time to drain', /^\d{1,6}(\.\d{1,3})?$/],
] as const

/** Reads the form. What a policy may be is left to the API, which has sentences of its own. */
export function readTrial(draft: TrialDraft): FormReading<TrialRequest> {
  for (const [field, word, pattern] of numbers) {
    if (pattern.test(draft[field].trim())) continue
    return { ok: false, field, problem: `The ${word} must be a number, not '${draft[field]}'.` }
  }
  for (const [index, policy] of draft.policies.entries()) {
    for (const [place, { lower, upper, adjustment }] of policy.steps.entries()) {
      const wrong = [lower, upper].find((bound) => !/^\d{0,9}$/.test(bound.trim()))
      const field = fieldOf(index, place)
      const step = `Step ${place + 1} of ${policy.name}`
      if (wrong !== undefined)
        return {
          ok: false,
          field,
          problem: `${step}: a bound must be a whole number or empty, not '${wrong}'.`,
        }
      if (!/^[+-]?\d{1,6}$/.test(adjustment.trim()))
        return {
          ok: false,
          field,
          problem: `${step}: what it does must be a whole number, not '${adjustment}'.`,
        }
    }
  }
  return { ok: true, request: requestOf(draft) }
}

export function fieldOf(policy: number, step: number): string {
  return `step-${policy}-${step}`
}

/** The policies as charts show them. */
export function boundedOf({ policies }: TrialDraft): readonly BoundedPolicy[] {
  return policies.map(({ name, metric, steps }) => {
    const bounds = steps.flatMap(({ lower, upper }) => [Number(lower), Number(upper)])
    return { name, metric, bounds: [...new Set(bounds)].filter((bound) => bound > 0) }
  })
}

function requestOf({ last, minSize, maxSize, warmup, cooldown, policies }: TrialDraft): TrialRequest {
  const bound = (text: string) => (text.trim() === '' ? undefined : Number(text))
  return {
    last,
    min_size: Number(minSize),
    max_size: Number(maxSize),
    warmup_time_ms: Math.round(Number(warmup) * 1_000),
    cooldown_time_ms: Math.round(Number(cooldown) * 1_000),
    policies: policies.map(({ name, metric, adjustment_type: type, steps }) => ({
      name,
      type: 'step',
      metric,
      adjustment_type: type,
      steps: steps.map(({ lower, upper, adjustment }) => ({
        ...(bound(lower) !== undefined && { lower_bound: bound(lower)! }),
        ...(bound(upper) !== undefined && { upper_bound: bound(upper)! }),
        adjustment: Number(adjustment),
      })),
    })),
  }
}
