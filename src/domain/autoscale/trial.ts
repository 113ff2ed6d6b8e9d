import { stepOf } from '../instance/usage-history.ts'
import type { StepUsage } from '../instance/usage-history.ts'
import { explainOutcome } from './explanation.ts'
import type { Demand } from './load-curve.ts'
import { eachMetric, observationIntervalMs } from './looks.ts'
import { AutoscaleMetric } from './policy.ts'
import type { AutoscaleConfiguration } from './policy.ts'
import type { MetricValues } from './proposal.ts'
import { SimulationTally } from './simulation-report.ts'
import type { SimulationReport } from './simulation-report.ts'
import { simulateAutoscale } from './simulation.ts'

/** What is known of a service: what its instances used in each step of a time. */
export interface RecordedLoad {
  readonly steps: readonly StepUsage[]
  /** The length of a step. */
  readonly stepMs: number
}

/** A configuration that is tried on a recorded load. */
export interface Trial extends RecordedLoad {
  readonly configuration: AutoscaleConfiguration
  /** The virtual processors of each instance. */
  readonly vcpus: number
  /** How long an instance takes until it serves. */
  readonly bootMs: number
}

/** One step of a trial, beside what was recorded. */
export interface TrialStep {
  readonly atMs: number
  /** What was asked of all instances together. */
  readonly demand: MetricValues
  /** What each instance would have had of it, in the mean over those that count. */
  readonly metrics?: MetricValues
  /** How many there would have been at the end of the step, those that start or drain included. */
  readonly size: number
  /** How many ran, in the mean. */
  readonly ran: number
}

export interface TrialDecision {
  readonly atMs: number
  readonly what: string
}

export interface TrialResult {
  readonly steps: readonly TrialStep[]
  /** The first decisions, at most `maxTrialDecisions`. */
  readonly decisions: readonly TrialDecision[]
  readonly report: SimulationReport
  /** The instance seconds that were really used. */
  readonly ranInstanceSeconds: number
  /**
   * For how long the instances that ran used nearly all of their processors. More may have been asked of
   * them.
   */
  readonly saturatedMs: number
}

/** The recorded times on which a configuration can be tried, with the steps that they have. */
export const trialTimes = {
  '1h': { lengthMs: 3_600_000, step: '5s' },
  '1d': { lengthMs: 86_400_000, step: '5m' },
} as const
export type TrialTime = keyof typeof trialTimes

/** The most instances times the most seconds of a trial. This many take about a second of a processor. */
export const maxTrialInstanceSeconds = 1_000_000
export const maxTrialDecisions = 500
/** The share of its processors from which on an instance may have been asked for more than it could do. */
const saturatedShare = 0.95
const millicoresPerVcpu = 1_000

/** From the first step of which something is known to the last. */
export function recordedMs({ steps, stepMs }: RecordedLoad): number {
  const [first, last] = [steps[0], steps.at(-1)]
  return first === undefined || last === undefined ? 0 : last.atMs + stepMs - first.atMs
}

/**
 * Simulates what a configuration would have done under a recorded load. It yields after each step, so that
 * others have their turn, and returns the result at the end. What was recorded is what was served. `steps`
 * are in the order of time, and there is at least one.
 */
export function* tryAutoscale(trial: Trial): Generator<void, TrialResult> {
  const { steps, stepMs, configuration, vcpus, bootMs } = trial
  const beginMs = steps[0]?.atMs ?? 0
  const byTime = new Map(steps.map((step) => [step.atMs, step]))
  const stepAt = (atMs: number) => byTime.get(stepOf(beginMs + atMs, stepMs))
  const demand: Demand = (atMs) => demandIn(stepAt(atMs), stepMs)
  const tally = new SimulationTally()
  const shown: TrialStep[] = []
  const decisions: TrialDecision[] = []
  const settings = {
    configuration,
    capacities: { ...eachMetric(() => Infinity), [AutoscaleMetric.Cpu]: vcpus * millicoresPerVcpu },
    bootMs,
    seed: 1,
    demand,
    durationMs: recordedMs(trial) - observationIntervalMs,
  }
  for (const moment of simulateAutoscale(settings)) {
    tally.add(moment)
    const { atMs, outcome, metrics, held } = moment
    if (outcome !== undefined && decisions.length < maxTrialDecisions)
      decisions.push({ atMs: beginMs + atMs, what: explainOutcome(outcome) })
    if ((atMs + observationIntervalMs) % stepMs !== 0) continue
    const recorded = stepAt(atMs)
    shown.push({
      atMs: stepOf(beginMs + atMs, stepMs),
      demand: moment.demand,
      ...(metrics !== undefined && { metrics }),
      size: held,
      ran: (recorded?.seenMs ?? 0) / stepMs,
    })
    yield
  }
  return {
    steps: shown,
    decisions,
    report: tally.report,
    ranInstanceSeconds: steps.reduce((sum, { seenMs }) => sum + seenMs, 0) / 1_000,
    saturatedMs: steps.filter((step) => isSaturated(step, vcpus)).length * stepMs,
  }
}

/** Where nothing was seen, nothing ran, and so nothing was served. */
function demandIn(step: StepUsage | undefined, stepMs: number): MetricValues {
  const { cpuTimeMs = 0, inFlightMs = 0, handled = 0 } = step ?? {}
  return {
    [AutoscaleMetric.Cpu]: (millicoresPerVcpu * cpuTimeMs) / stepMs,
    [AutoscaleMetric.InFlight]: inFlightMs / stepMs,
    [AutoscaleMetric.RequestsPerSecond]: (handled * 1_000) / stepMs,
  }
}

function isSaturated({ cpuTimeMs, seenMs }: StepUsage, vcpus: number): boolean {
  return seenMs > 0 && cpuTimeMs >= saturatedShare * vcpus * seenMs
}
