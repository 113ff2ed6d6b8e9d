import { useMemo, useState } from 'preact/hooks'
import type { VNode } from 'preact'
import { one } from '../../src/client/answers.ts'
import { api } from '../frame/api.ts'
import { useRepeated } from '../frame/repeated.ts'
import { Charts } from '../usage/charts.tsx'
import { RangeChoice, ranges, spanOf, usageQuery } from '../usage/range.tsx'
import type { Range } from '../usage/range.tsx'
import { seriesOf } from '../usage/usage-data.ts'
import type { Configuration } from './configurations.ts'
import { bounded, scaleCharts } from './scale-charts.ts'

/** The load per instance against the steps of the policies, the size, and the decisions, over time. */
export function LoadOverTime(props: {
  readonly service: Configuration
  /** The moments of decisions, as the API writes them. */
  readonly decidedAt: readonly string[]
}): VNode {
  const { service, decidedAt } = props
  const { uuid, policies = [] } = service
  const [range, setRange] = useState<Range>(ranges[0])
  const { known, problem } = useRepeated(
    async (signal) => {
      const params = { path: { object: uuid }, query: usageQuery(range) }
      const { usage } = one(await api.GET('/v1/services/{object}/usage', { params, signal }))
      return seriesOf(usage, range.stepMs, spanOf(range))
    },
    range.everyMs,
    [uuid, range],
  )
  const decided = decidedAt.join()
  const shown = useMemo(() => {
    if (known === undefined) return undefined
    const charts = scaleCharts(policies.map(bounded), {
      metrics: known.perInstance,
      sizes: [{ label: 'that run', values: known.running }],
    })
    const marks = decidedAt.map((at) => Date.parse(at) / 1_000)
    return { charts, times: { times: known.times, marks } }
  }, [known, service, decided])
  return (
    <section class="card usage" aria-label="Load and size over time" aria-busy={known === undefined}>
      <div class="bar">
        <RangeChoice range={range} onChange={setRange} />
        <p class="soft small" role="status">
          {problem ?? ''}
        </p>
      </div>
      <p class="keys small soft">
        <span class="key mark" aria-hidden="true" /> the size was decided on
      </p>
      <Charts key={JSON.stringify(policies)} shown={shown} count={policies.length + 1} />
    </section>
  )
}
