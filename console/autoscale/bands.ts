import type { Policy } from './configurations.ts'

/** One step of a policy as a part of the picture. `from` and `to` are shares of its width. */
export interface Band {
  readonly from: number
  readonly to: number
  readonly kind: 'fewer' | 'same' | 'more'
  /** What the step does, such as `+1`. */
  readonly text: string
}

export interface Bands {
  readonly bands: readonly Band[]
  /** The bounds of the steps, each at its share of the width. */
  readonly bounds: readonly { readonly at: number; readonly value: number }[]
  /** Where the measured value is; absent if it is not known. */
  readonly at?: number
}

/** How far the picture goes on behind the last bound. */
const beyond = 1.3

/** Places the steps of a policy and the measured value on a line that begins at 0. */
export function bandsOf({ steps, adjustment_type: type }: Policy, value: number | undefined): Bands {
  const values = steps.flatMap(({ lower_bound: lower, upper_bound: upper }) => [lower ?? 0, upper ?? 0])
  const most = Math.max(1, ...values, value ?? 0) * beyond
  const bounds = [...new Set(values)].filter((bound) => bound > 0).toSorted((a, b) => a - b)
  return {
    bands: steps.map(({ lower_bound: lower = 0, upper_bound: upper = most, adjustment }) => ({
      from: lower / most,
      to: upper / most,
      kind: type === 'exact' || adjustment > 0 ? 'more' : adjustment < 0 ? 'fewer' : 'same',
      text: adjustmentText(type, adjustment),
    })),
    bounds: bounds.map((bound) => ({ at: bound / most, value: bound })),
    ...(value === undefined ? {} : { at: value / most }),
  }
}

export function adjustmentText(type: Policy['adjustment_type'], adjustment: number): string {
  if (type === 'exact') return `= ${adjustment}`
  const sign = adjustment > 0 ? '+' : adjustment < 0 ? '−' : ''
  return `${sign}${Math.abs(adjustment)}${type === 'percent' ? ' %' : ''}`
}
