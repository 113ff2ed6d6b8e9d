import { quantile } from './load.ts'

/** One line of the result: what was measured, its figure, and the aim if there is one. */
export interface Finding {
  readonly what: string
  readonly figure: string
  readonly aim?: string
}

export interface Section {
  readonly title: string
  readonly findings: readonly Finding[]
}

export function printSection({ title, findings }: Section): void {
  const width = Math.max(...findings.map(({ what }) => what.length))
  const lines = findings.map(({ what, figure, aim }) => {
    const wanted = aim === undefined ? '' : `   (aim ${aim})`
    return `  ${what.padEnd(width)}  ${figure}${wanted}`
  })
  process.stdout.write(`\n${title}\n${lines.join('\n')}\n`)
}

export function inMs(ms: number): string {
  return `${ms.toFixed(ms < 10 ? 1 : 0)} ms`
}

export function inMb(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(0)} MB`
}

/** The median of times in milliseconds, with the least and the most. */
export function spread(values: readonly number[]): string {
  return `p50 ${inMs(quantile(values, 0.5))} (${inMs(Math.min(...values))} to ${inMs(Math.max(...values))})`
}
