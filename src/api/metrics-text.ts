/** The form of text that Prometheus reads. */
export const metricsContentType = 'text/plain; version=0.0.4; charset=utf-8'

/** The labels of a sample, and its value. */
export interface Sample {
  /** What follows the metric's name, such as `_bucket` of a histogram. Absent: nothing. */
  readonly suffix?: '_bucket' | '_sum' | '_count'
  readonly labels: Readonly<Record<string, string>>
  readonly value: string | number
}

export interface TextMetric<Subject> {
  readonly name: string
  readonly type: 'gauge' | 'counter' | 'histogram'
  readonly help: string
  readonly samples: (subject: Subject) => readonly Sample[]
}

/**
 * Metrics in the Prometheus text form: a block per metric with its help and type, with blank lines between
 * the blocks.
 */
export function metricsText<Subject>(
  metrics: readonly TextMetric<Subject>[],
  subjects: readonly Subject[],
): string {
  const blocks = metrics.map(({ name, type, help, samples }) => [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...subjects.flatMap(samples).map((sample) => line(name, sample)),
  ])
  return `${blocks.map((block) => block.join('\n')).join('\n\n')}\n`
}

function line(name: string, { suffix, labels, value }: Sample): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`)
  return `${name}${suffix ?? ''}{${pairs.join(',')}} ${value}`
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}

/** The samples of a histogram from its counts; `counts` has one more number than there are bounds. */
export function histogramSamples(
  labels: Sample['labels'],
  bounds: readonly number[],
  { counts, seconds }: { readonly counts: readonly number[]; readonly seconds: number },
): readonly Sample[] {
  let count = 0
  const buckets = [...bounds, '+Inf'].map((bound, index): Sample => {
    count += counts[index] ?? 0
    return { suffix: '_bucket', labels: { ...labels, le: String(bound) }, value: count }
  })
  return [...buckets, { suffix: '_sum', labels, value: seconds }, { suffix: '_count', labels, value: count }]
}
