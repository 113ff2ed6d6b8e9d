import type { Entry } from '../../src/client/answers.ts'
import type { UserEvent } from '../../src/client/event-stream.ts'

/** A step of the history of an instance, or of all instances of a service together. */
export type UsageStep = Entry<'GetServiceUsageAnswer'>['usage'][number]

/** A time span in milliseconds. */
export interface Span {
  readonly fromMs: number
  readonly toMs: number
}

/** What a chart draws: a value for each time, null where nothing is known. */
export type Values = readonly (number | null)[]

export interface UsageSeries {
  /** The beginnings of the steps, in seconds. */
  readonly times: readonly number[]
  /** Processor time per time that it ran, in percent of one processor. */
  readonly processor: Values
  /** Processor time per second, in thousandths of one processor. */
  readonly millicores: Values
  readonly memoryMb: Values
  readonly receivedPerS: Values
  readonly sentPerS: Values
  readonly requestsPerS: Values
  /** How many requests were in flight in the mean. */
  readonly inFlight: Values
  /** How long a request took in the mean, in seconds. */
  readonly requestS: Values
  /** What each instance that ran had, by the metrics of autoscale. */
  readonly perInstance: Readonly<Record<'cpu' | 'in_flight' | 'requests_per_second', Values>>
  /** How many instances ran in the mean. */
  readonly running: Values
  /** The beginnings of the steps in which it woke, in seconds. */
  readonly wakes: readonly number[]
}

const mebibyte = 1_048_576

/** Lays the steps that are known out over all steps of the span, so that a gap is a gap. */
export function seriesOf(usage: readonly UsageStep[], stepMs: number, span: Span): UsageSeries {
  const byTime = new Map(usage.map((step) => [Date.parse(step.at), step]))
  const beginsMs: number[] = []
  const first = Math.ceil(span.fromMs / stepMs) * stepMs
  for (let ms = first; ms <= span.toMs; ms += stepMs) beginsMs.push(ms)
  const steps = beginsMs.map((ms) => byTime.get(ms))
  const perStep = (read: (step: UsageStep) => number): Values =>
    steps.map((step) => (step === undefined ? null : read(step)))
  const stepS = stepMs / 1_000
  return {
    times: beginsMs.map((ms) => ms / 1_000),
    processor: perStep((step) => (100 * step.cpu_time_ms) / Math.max(step.seen_ms, 1)),
    millicores: perStep((step) => (1_000 * step.cpu_time_ms) / stepMs),
    // An instance that slept at the sample has no memory of a VM; how much it had before is not known.
    memoryMb: steps.map((step) =>
      step === undefined || step.rss_bytes === 0 ? null : step.rss_bytes / mebibyte,
    ),
    receivedPerS: perStep((step) => step.rx_bytes / stepS),
    sentPerS: perStep((step) => step.tx_bytes / stepS),
    requestsPerS: perStep((step) => step.nrequests / stepS),
    inFlight: perStep((step) => step.in_flight_ms / stepMs),
    // So many are in flight as arrive in the time that one takes.
    requestS: steps.map((step) =>
      step === undefined || step.nrequests === 0 ? null : step.in_flight_ms / 1_000 / step.nrequests,
    ),
    perInstance: {
      cpu: perStep((step) => (1_000 * step.cpu_time_ms) / Math.max(step.seen_ms, 1)),
      in_flight: perStep((step) => step.in_flight_ms / Math.max(step.seen_ms, 1)),
      requests_per_second: perStep((step) => (1_000 * step.nrequests) / Math.max(step.seen_ms, 1)),
    },
    running: perStep((step) => step.seen_ms / stepMs),
    wakes: beginsMs.filter((ms) => (byTime.get(ms)?.nwakes ?? 0) > 0).map((ms) => ms / 1_000),
  }
}

/**
 * When an instance slept within a span, from the events of its state, in any order. Without events it is as
 * it was before the span.
 */
export function sleepsIn(events: readonly UserEvent[], span: Span, sleepsNow: boolean): readonly Span[] {
  const changes = events
    .filter(({ kind, to }) => kind === 'instance.state' && to !== undefined)
    .map(({ at, from, to }) => ({ atMs: Date.parse(at), from, to }))
    .toSorted((one, other) => one.atMs - other.atMs)
  if (changes.length === 0) return sleepsNow ? [span] : []
  const sleeps: Span[] = []
  let sinceMs = changes[0]?.from === 'standby' ? span.fromMs : undefined
  for (const { atMs, to } of changes) {
    if (to === 'standby') sinceMs ??= atMs
    else if (sinceMs !== undefined) {
      sleeps.push({ fromMs: sinceMs, toMs: atMs })
      sinceMs = undefined
    }
  }
  if (sinceMs !== undefined) sleeps.push({ fromMs: sinceMs, toMs: span.toMs })
  return sleeps
    .map(({ fromMs, toMs }) => ({
      fromMs: Math.max(fromMs, span.fromMs),
      toMs: Math.min(toMs, span.toMs),
    }))
    .filter(({ fromMs, toMs }) => toMs > fromMs)
}

/** What was used in all, as a sentence. It says to those who can not see the charts what they show. */
export function sumText(usage: readonly UsageStep[]): string {
  if (usage.length === 0) return 'It did not run in this time.'
  const sum = (read: (step: UsageStep) => number): number => usage.reduce((all, step) => all + read(step), 0)
  const cpuS = sum(({ cpu_time_ms: ms }) => ms) / 1_000
  const mostMb = Math.max(...usage.map(({ rss_bytes: bytes }) => bytes)) / mebibyte
  const requests = sum(({ nrequests }) => nrequests)
  const wakes = sum(({ nwakes }) => nwakes)
  const counted = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`
  const memory = mostMb === 0 ? '' : `at most ${Math.round(mostMb)} MiB of memory, `
  return `${cpuS.toFixed(1)} s of processor time, ${memory}${counted(requests, 'request')}, ${counted(wakes, 'wake')}.`
}

export function bytesText(bytes: number): string {
  if (bytes < 1_024) return `${Math.round(bytes)} B`
  if (bytes < mebibyte) return `${(bytes / 1_024).toFixed(1)} KiB`
  return `${(bytes / mebibyte).toFixed(1)} MiB`
}

/** A number with one digit behind the point if it is small. */
export function numberText(value: number): string {
  return value < 10 ? value.toFixed(1) : String(Math.round(value))
}
