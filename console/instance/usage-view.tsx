import { useEffect, useRef, useState } from 'preact/hooks'
import type { VNode } from 'preact'
import { one, succeeded } from '../../src/client/answers.ts'
import { pause } from '../../src/client/pause.ts'
import { api, isSessionEnd, sentenceOf } from '../frame/api.ts'
import { theme } from '../frame/theme.ts'
import type { Instance } from './mood.ts'
import type { DrawnCharts, UsageChart } from './usage-chart.ts'
import { seriesOf, sleepsIn, sumText } from './usage-data.ts'
import type { Span, UsageSeries, UsageStep } from './usage-data.ts'

const minuteMs = 60_000
const dayMs = 1_440 * minuteMs
/** The most events of which the sleeps are drawn. */
const mostEvents = 1_000

const ranges = [
  { title: 'Last hour', lengthMs: 60 * minuteMs, step: '5s', stepMs: 5_000, everyMs: 5_000 },
  { title: 'Last day', lengthMs: dayMs, step: '5m', stepMs: 5 * minuteMs, everyMs: minuteMs },
  { title: 'Last 30 days', lengthMs: 30 * dayMs, step: '5m', stepMs: 5 * minuteMs, everyMs: minuteMs },
] as const
type Range = (typeof ranges)[number]

interface Known {
  readonly usage: readonly UsageStep[]
  readonly series: UsageSeries
  readonly sleeps: readonly Span[]
}

/** What an instance used over time, and when it slept and woke. */
export function InstanceUsage({ instance }: { readonly instance: Instance }): VNode {
  const [range, setRange] = useState<Range>(ranges[0])
  const { known, problem } = useUsage(instance, range)
  return (
    <section class="card usage" aria-label="Usage" aria-busy={known === undefined}>
      <div class="bar">
        <div class="choices" role="group" aria-label="Time that is shown">
          {ranges.map((each) => (
            <button
              key={each.title}
              type="button"
              class="button small"
              aria-pressed={each === range}
              onClick={() => setRange(each)}
            >
              {each.title}
            </button>
          ))}
        </div>
        <p class="soft small" role="status">
          {problem ?? (known === undefined ? '' : sumText(known.usage))}
        </p>
      </div>
      <p class="keys small soft">
        <span class="key sleeping" aria-hidden="true" /> it sleeps
        <span class="key woken" aria-hidden="true" /> it was woken
      </p>
      <Charts known={known} />
    </section>
  )
}

/** The charts. They are for the eye: the sentence above them has the sums. */
function Charts({ known }: { readonly known: Known | undefined }): VNode {
  const place = useRef<HTMLDivElement>(null)
  const drawn = useRef<DrawnCharts | undefined>(undefined)
  const shade = theme.value
  useEffect(() => {
    // Colours are read when the charts are made.
    return () => {
      drawn.current?.remove()
      drawn.current = undefined
    }
  }, [shade])
  useEffect(() => {
    if (known === undefined) return undefined
    let isOver = false
    // The library is loaded with the first chart, so that no other page waits for it.
    void import('./usage-chart.ts').then(({ DrawnCharts: Charts }) => {
      if (isOver || place.current === null) return
      const { series, sleeps } = known
      const times = { times: series.times, sleeps, wakes: series.wakes }
      if (drawn.current === undefined) drawn.current = new Charts(place.current, chartsOf(series), times)
      else drawn.current.update(chartsOf(series), times)
    })
    return () => {
      isOver = true
    }
  }, [known, shade])
  return <div class="charts" ref={place} aria-hidden="true" />
}

function chartsOf(series: UsageSeries): readonly UsageChart[] {
  const bytes = (value: number): string => `${bytesText(value)}/s`
  return [
    {
      title: 'Processor',
      lines: [{ label: 'of one processor', colour: '--accent', values: series.processor }],
      text: (value) => `${value < 10 ? value.toFixed(1) : Math.round(value)} %`,
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
      text: bytes,
    },
    {
      title: 'Requests and connections',
      lines: [{ label: 'per second', colour: '--accent', values: series.requestsPerS }],
      text: (value) => (value < 10 ? value.toFixed(1) : String(Math.round(value))),
    },
  ]
}

function bytesText(bytes: number): string {
  if (bytes < 1_024) return `${Math.round(bytes)} B`
  if (bytes < 1_048_576) return `${(bytes / 1_024).toFixed(1)} KiB`
  return `${(bytes / 1_048_576).toFixed(1)} MiB`
}

/** Reads the usage and the sleeps of the range, again and again. */
function useUsage({ uuid, state }: Instance, range: Range) {
  const [known, setKnown] = useState<Known>()
  const [problem, setProblem] = useState<string>()
  useEffect(() => {
    const ended = new AbortController()
    const read = async (): Promise<void> => {
      while (!ended.signal.aborted) {
        try {
          setKnown(await readUsage({ uuid, state }, range, ended.signal))
          setProblem(undefined)
        } catch (error) {
          if (ended.signal.aborted || isSessionEnd(error)) return
          setProblem(sentenceOf(error))
        }
        await pause(range.everyMs, ended.signal)
      }
    }
    void read()
    return () => ended.abort()
  }, [uuid, state, range])
  return { known, problem }
}

async function readUsage(
  { uuid, state }: Pick<Instance, 'uuid' | 'state'>,
  range: Range,
  signal: AbortSignal,
): Promise<Known> {
  const { step, stepMs, lengthMs } = range
  const limit = Math.ceil(lengthMs / stepMs)
  const path = { object: uuid }
  const { usage } = one(
    await api.GET('/v1/instances/{object}/usage', { params: { path, query: { step, limit } }, signal }),
  )
  const toMs = Date.now()
  const span = { fromMs: toMs - lengthMs, toMs }
  const since = new Date(span.fromMs).toISOString()
  const query = { object: uuid, kind: 'instance.state' as const, since, count: mostEvents }
  const events = await api
    .GET('/v1/events', { params: { query }, signal })
    .then(succeeded)
    // A token that is limited to services sees no events; the charts are worth something without the sleeps.
    .catch(() => [])
  return { usage, series: seriesOf(usage, stepMs, span), sleeps: sleepsIn(events, span, state === 'standby') }
}
