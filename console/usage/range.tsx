import type { VNode } from 'preact'
import type { Span } from './usage-data.ts'

const minuteMs = 60_000
const dayMs = 1_440 * minuteMs

/** The times of which a history of usage can be shown: each with the length of its steps. */
export const ranges = [
  { title: 'Last hour', lengthMs: 60 * minuteMs, step: '5s', stepMs: 5_000, everyMs: 5_000 },
  { title: 'Last day', lengthMs: dayMs, step: '5m', stepMs: 5 * minuteMs, everyMs: minuteMs },
  { title: 'Last 30 days', lengthMs: 30 * dayMs, step: '5m', stepMs: 5 * minuteMs, everyMs: minuteMs },
] as const
export type Range = (typeof ranges)[number]

/** What to ask the API for. */
export function usageQuery({ step, stepMs, lengthMs }: Range) {
  return { step, limit: Math.ceil(lengthMs / stepMs) }
}

export function spanOf({ lengthMs }: Range): Span {
  const toMs = Date.now()
  return { fromMs: toMs - lengthMs, toMs }
}

export function RangeChoice(props: {
  readonly range: Range
  readonly onChange: (range: Range) => void
}): VNode {
  return (
    <div class="choices" role="group" aria-label="Time that is shown">
      {ranges.map((each) => (
        <button
          key={each.title}
          type="button"
          class="button small"
          aria-pressed={each === props.range}
          onClick={() => props.onChange(each)}
        >
          {each.title}
        </button>
      ))}
    </div>
  )
}
