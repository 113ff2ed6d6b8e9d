import type { FormReading } from '../object/form-reading.ts'
import type { NewConfiguration, Policy } from './configurations.ts'

/** What a person has written into the form. */
export interface Draft {
  readonly service: string
  readonly master: string
  readonly minSize: string
  readonly maxSize: string
  readonly metric: Policy['metric']
  readonly addFrom: string
  readonly giveBackBelow: string
}

export const emptyDraft: Draft = {
  service: '',
  master: '',
  minSize: '1',
  maxSize: '4',
  metric: 'cpu',
  addFrom: '800',
  giveBackBelow: '300',
}

const numbers = {
  minSize: 'fewest instances',
  maxSize: 'most instances',
  addFrom: 'value from which one is added',
  giveBackBelow: 'value below which one is given back',
} as const

/** Reads the form. What the API checks anyway, with sentences of its own, is left to it. */
export function readDraft(draft: Draft): FormReading<NewConfiguration, keyof Draft> {
  if (draft.service === '') return { ok: false, field: 'service', problem: 'Choose the service to scale.' }
  if (draft.master === '') return { ok: false, field: 'master', problem: 'Choose the instance to clone.' }
  for (const field of Object.keys(numbers) as (keyof typeof numbers)[]) {
    if (/^\d{1,9}$/.test(draft[field].trim())) continue
    const problem = `The ${numbers[field]} must be a whole number, not '${draft[field]}'.`
    return { ok: false, field, problem }
  }
  const lower = Number(draft.giveBackBelow)
  const upper = Number(draft.addFrom)
  if (lower <= 0 || lower >= upper) {
    const problem = `It must be above 0 and below ${upper}, where one is added. Between the two the size stays.`
    return { ok: false, field: 'giveBackBelow', problem }
  }
  return { ok: true, request: requestOf(draft, { lower, upper }) }
}

function requestOf(
  { master, minSize, maxSize, metric }: Draft,
  { lower, upper }: { readonly lower: number; readonly upper: number },
): NewConfiguration {
  return {
    master: { uuid: master },
    min_size: Number(minSize),
    max_size: Number(maxSize),
    policies: [
      {
        name: metric.replaceAll('_', '-'),
        type: 'step',
        metric,
        steps: [
          { upper_bound: lower, adjustment: -1 },
          { lower_bound: lower, upper_bound: upper, adjustment: 0 },
          { lower_bound: upper, adjustment: 1 },
        ],
      },
    ],
  }
}
