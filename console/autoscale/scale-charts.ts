import type { Chart, ChartLine } from '../usage/drawn-charts.ts'
import { numberText } from '../usage/usage-data.ts'
import type { Values } from '../usage/usage-data.ts'
import type { Policy } from './configurations.ts'
import { metricWords } from './policy-view.tsx'

/** The load and the size of a service over time, as a person looks at them to understand a policy. */
export interface ScaleSeries {
  /** The load of each instance, by metric. */
  readonly metrics: Readonly<Record<Policy['metric'], Values>>
  /** How many instances there were, or would have been: one line each. */
  readonly sizes: readonly { readonly label: string; readonly values: Values }[]
}

/** A policy with the bounds of its steps, each of them once. */
export interface BoundedPolicy extends Pick<Policy, 'name' | 'metric'> {
  readonly bounds: readonly number[]
}

const sizeColours = ['--runs', '--moves']

export function bounded({ name, metric, steps }: Pick<Policy, 'name' | 'metric' | 'steps'>): BoundedPolicy {
  const bounds = steps.flatMap(({ lower_bound: lower = 0, upper_bound: upper = 0 }) => [lower, upper])
  return { name, metric, bounds: [...new Set(bounds)].filter((bound) => bound > 0) }
}

/** For each policy its metric with the bounds of its steps, and below them the size. */
export function scaleCharts(
  policies: readonly BoundedPolicy[],
  { metrics, sizes }: ScaleSeries,
): readonly Chart[] {
  return [
    ...policies.map((policy) => chartOf(policy, metrics[policy.metric])),
    {
      title: 'Instances',
      lines: sizes.map(({ label, values }, index) => ({
        label,
        values,
        colour: sizeColours[index] ?? '--accent',
        isStepped: true,
      })),
      text: numberText,
    },
  ]
}

function chartOf({ name, metric, bounds }: BoundedPolicy, values: Values): Chart {
  const [word, unit] = metricWords[metric]
  const line: ChartLine = { label: word, colour: '--accent', values }
  const ofSteps = bounds.map((bound) => ({
    label: `step at ${bound}`,
    colour: '--moves',
    values: values.map(() => bound),
    isBound: true,
  }))
  return { title: `${name}: ${unit}`, lines: [line, ...ofSteps], text: numberText }
}
