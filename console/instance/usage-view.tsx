import { useMemo, useState } from 'preact/hooks'
import type { VNode } from 'preact'
import { one, succeeded } from '../../src/client/answers.ts'
import { api } from '../frame/api.ts'
import { useRepeated } from '../frame/repeated.ts'
import { Charts } from '../usage/charts.tsx'
import type { Chart } from '../usage/drawn-charts.ts'
import { RangeChoice, ranges, spanOf, usageQuery } from '../usage/range.tsx'
import type { Range } from '../usage/range.tsx'
import { bytesText, numberText, seriesOf, sleepsIn, sumText } from '../usage/usage-data.ts'
import type { Span, UsageSeries, UsageStep } from '../usage/usage-data.ts'
import type { Instance } from './mood.ts'

/** The most events of which the sleeps are drawn. */
const mostEvents = 1_000

interface Known {
  readonly usage: readonly UsageStep[]
  readonly series: UsageSeries
  readonly sleeps: readonly Span[]
}

/** What an instance used over time, and when it slept and woke. */
export function InstanceUsage({ instance }: { readonly instance: Instance }): VNode {
  const { uuid, state } = instance
  const [range, setRange] = useState<Range>(ranges[0])
  const { known, problem } = useRepeated(
    async (signal) => await readUsage({ uuid, state }, range, signal),
    range.everyMs,
    [uuid, state, range],
  )
  const shown = useMemo(() => known && { charts: chartsOf(known.series), times: timesOf(known) }, [known])
  return (
    <section class="card usage" aria-label="Usage" aria-busy={known === undefined}>
      <div class="bar">
        <RangeChoice range={range} onChange={setRange} />
        <p class="soft small" role="status">
          {problem ?? (known === undefined ? '' : sumText(known.usage))}
        </p>
      </div>
      <p class="keys small soft">
        <span class="key sleeping" aria-hidden="true" /> it sleeps
        <span class="key mark" aria-hidden="true" /> it was woken
      </p>
      <Charts shown={shown} count={4} />
    </section>
  )
}

function timesOf({ series, sleeps }: Known) {
  return { times: series.times, sleeps, marks: series.wakes }
}

function chartsOf(series: UsageSeries): readonly Chart[] {
  return [
    {
      title: 'Processor',
      lines: [{ label: 'of one processor', colour: '--accent', values: series.processor }],
      text: (value) => `${numberText(value)} %`,
    },
    {
      title: 'Memory',
      lines: [{ label: 'on its host', colour: '--runs', values: series.memoryMb }],
      text: (value) => `${Math.round(value)} MiB`,
    },
    {
      title: 'Network',
      lines: [
        { label: 'received', colour: '--accent', values: series.receivedPerS },
        { label: 'sent', colour: '--moves', values: series.sentPerS },
      ],
      text: (value) => `${bytesText(value)}/s`,
    },
    {
      title: 'Requests and connections',
      lines: [{ label: 'per second', colour: '--accent', values: series.requestsPerS }],
      text: numberText,
    },
  ]
}

async function readUsage(
  { uuid, state }: Pick<Instance, 'uuid' | 'state'>,
  range: Range,
  signal: AbortSignal,
): Promise<Known> {
  const path = { object: uuid }
  const { usage } = one(
    await api.GET('/v1/instances/{object}/usage', { params: { path, query: usageQuery(range) }, signal }),
  )
  const span = spanOf(range)
  const since = new Date(span.fromMs).toISOString()
  const query = { object: uuid, kind: 'instance.state' as const, since, count: mostEvents }
  const events = await api
    .GET('/v1/events', { params: { query }, signal })
    .then(succeeded)
    // A token that is limited to services sees no events; the charts are worth something without the sleeps.
    .catch(() => [])
  return {
    usage,
    series: seriesOf(usage, range.stepMs, span),
    sleeps: sleepsIn(events, span, state === 'standby'),
  }
}
