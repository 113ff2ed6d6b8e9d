import { useMemo, useState } from 'preact/hooks'
import type { VNode } from 'preact'
import { one } from '../../src/client/answers.ts'
import { api } from '../frame/api.ts'
import { useRepeated } from '../frame/repeated.ts'
import { secondsText } from '../frame/time.ts'
import { Charts } from '../usage/charts.tsx'
import type { Chart } from '../usage/drawn-charts.ts'
import { RangeChoice, ranges, spanOf, usageQuery } from '../usage/range.tsx'
import type { Range } from '../usage/range.tsx'
import { numberText, seriesOf, sumText } from '../usage/usage-data.ts'
import type { UsageSeries } from '../usage/usage-data.ts'

/** Requests to a service over time, how long they took, and what its instances used for them. */
export function ServiceUsage({ uuid }: { readonly uuid: string }): VNode {
  const [range, setRange] = useState<Range>(ranges[0])
  const { known, problem } = useRepeated(
    async (signal) => {
      const params = { path: { object: uuid }, query: usageQuery(range) }
      const { usage } = one(await api.GET('/v1/services/{object}/usage', { params, signal }))
      return { usage, series: seriesOf(usage, range.stepMs, spanOf(range)) }
    },
    range.everyMs,
    [uuid, range],
  )
  const shown = useMemo(
    () => known && { charts: chartsOf(known.series), times: { times: known.series.times } },
    [known],
  )
  return (
    <section class="card usage" aria-label="Over time" aria-busy={known === undefined}>
      <div class="bar">
        <RangeChoice range={range} onChange={setRange} />
        <p class="soft small" role="status">
          {problem ?? (known === undefined ? '' : sumText(known.usage))}
        </p>
      </div>
      <Charts shown={shown} count={4} />
    </section>
  )
}

function chartsOf(series: UsageSeries): readonly Chart[] {
  return [
    {
      title: 'Requests and connections',
      lines: [{ label: 'per second', colour: '--accent', values: series.requestsPerS }],
      text: numberText,
    },
    {
      title: 'Time of a request',
      lines: [{ label: 'in the mean', colour: '--moves', values: series.requestS }],
      text: secondsText,
    },
    {
      title: 'Processor',
      lines: [{ label: 'of all its instances', colour: '--accent', values: series.millicores }],
      text: (value) => `${Math.round(value)} millicores`,
    },
    {
      title: 'Instances that run',
      lines: [{ label: 'in the mean', colour: '--runs', values: series.running }],
      text: numberText,
    },
  ]
}
