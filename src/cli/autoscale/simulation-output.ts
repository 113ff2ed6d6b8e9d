import { amountOf, explainOutcome, explainRest } from '../../domain/autoscale/explanation.ts'
import type { SimulatedMoment } from '../../domain/autoscale/simulation.ts'
import type { SimulationReport } from '../../domain/autoscale/simulation-report.ts'
import { table } from '../../primitives/text-table.ts'
import type { Simulation } from './simulation-options.ts'

/**
 * Whether a moment gets a line in the output. It does if something was done, or if the time for a regular
 * line has come.
 */
export function isTold({ atMs, outcome }: SimulatedMoment, everySeconds: number): boolean {
  return outcome !== undefined || atMs % (everySeconds * 1_000) === 0
}

export function momentsTable(moments: readonly SimulatedMoment[], { metric }: Simulation): string {
  const head = ['SECOND', `LOAD (${metric})`, 'PER INSTANCE', 'SIZE', 'WARM', 'NEEDED', 'WHAT']
  const words = moments.map(whatOf)
  const rows = moments.map((moment, index) => [
    String(moment.atMs / 1_000),
    shortNumber(moment.demand[metric]),
    moment.metrics === undefined ? '-' : shortNumber(moment.metrics[metric]),
    String(moment.size),
    String(moment.warm),
    String(moment.needed),
    // A sentence that repeats the one above it is left out, because it would hide what is new.
    words[index] === words[index - 1] ? '' : String(words[index]),
  ])
  return table([head, ...rows])
}

function whatOf({ outcome, rest, aligned }: SimulatedMoment): string {
  if (outcome === undefined) return rest === undefined ? '' : explainRest(rest, secondOf).now
  const refusal = aligned?.refusal === undefined ? '' : `; but ${aligned.refusal}`
  return `${explainOutcome(outcome)}${refusal}`
}

function secondOf(atMs: number): string {
  return `second ${atMs / 1_000}`
}

/** The results of the simulation, in sentences. */
export function reportText(report: SimulationReport, { metric, settings }: Simulation): string {
  const { smallestSize, largestSize, instanceSeconds, spareInstanceSeconds, missingInstanceSeconds } = report
  const capacity = amountOf(metric, settings.capacities[metric])
  return [
    `${report.durationMs / 1_000} s, at most ${capacity}:`,
    `  between ${smallestSize} and ${largestSize} instances, ${instanceSeconds} instance seconds in all`,
    `  ${spareInstanceSeconds} instance seconds (${percent(spareInstanceSeconds / instanceSeconds)}) beyond what the policies needed, and ${missingInstanceSeconds} short of it`,
    `  ${percent(report.unservedShare)} of the load found no room`,
    `  ${shortagesOf(report)}`,
    `  ${countOf(report.resizes, 'change')} of the size by policies, ${report.directionChanges} of direction; ${countOf(report.failures, 'failure')}`,
  ].join('\n')
}

function shortagesOf({ shortages, meanShortageMs, longestShortageMs, endsShort }: SimulationReport): string {
  if (shortages === 0) return 'at all times as many had warmed up as were needed'
  const times = `${countOf(shortages, 'time')} fewer had warmed up than were needed`
  const mean = `enough again after ${shortNumber(meanShortageMs / 1_000)} s`
  const most = shortages === 1 ? '' : ` on average, ${longestShortageMs / 1_000} s at most`
  return `${times}, ${mean}${most}${endsShort ? '; the last time until the end' : ''}`
}

function countOf(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}

function shortNumber(value: number): string {
  return String(Number(value.toFixed(value < 100 ? 1 : 0)))
}

function percent(share: number): string {
  return `${Number((share * 100).toFixed(1))} %`
}
