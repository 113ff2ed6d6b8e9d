import type { AutoscaleObservation } from './observation.ts'
import { Standing } from './members.ts'
import { AutoscaleMetric } from './policy.ts'
import type { MetricValues } from './proposal.ts'

/** Between two looks at a service. */
export const observationIntervalMs = 1_000
/** A metric is the mean over so many looks that follow each other, with the same instances counted. */
export const observationsPerMetric = 3
/** Looks that are further apart do not follow each other: a worker was gone, or its clock was set. */
export const longestLookGapMs = 3 * observationIntervalMs

/** What was seen at one look of the instances that count. */
export interface Look {
  readonly atMs: number
  /** UUIDs in order. */
  readonly counted: readonly string[]
  /** Means per instance. */
  readonly metrics: MetricValues
  /**
   * Some instance that counts did not tell its load. It stands in the metrics with 0, and not at all where
   * its host is lost.
   */
  readonly incomplete: boolean
}

type Observed = AutoscaleObservation['members']

/**
 * The last looks that follow each other with the same instances, the newest last; none while no instance
 * counts.
 */
export function addLook(looks: readonly Look[], { nowMs, members }: AutoscaleObservation): readonly Look[] {
  const look = lookAt(members, nowMs)
  if (look === undefined) return []
  const before = looks.at(-1)
  const follows =
    before !== undefined &&
    before.atMs <= nowMs &&
    nowMs - before.atMs <= longestLookGapMs &&
    before.counted.join() === look.counted.join()
  return follows ? [...looks, look].slice(-observationsPerMetric) : [look]
}

/** Undefined: not enough looks yet. */
export function metricsOf(looks: readonly Look[]): MetricValues | undefined {
  return looks.length < observationsPerMetric ? undefined : means(looks.map(({ metrics }) => metrics))
}

export function namesOf(members: Observed, standings: readonly Standing[]): readonly string[] {
  return members.filter(({ standing }) => standings.includes(standing)).map(({ name }) => name)
}

/** Of those that count, who does not tell. */
export function silentNames(members: Observed): readonly string[] {
  return members.filter(isSilent).map(({ name }) => name)
}

/** Takes requests, as far as its host tells; a sleeper wakes for them. */
export function isServing({ standing, load, isHostLost }: Observed[number]): boolean {
  return standing === Standing.Counted
    ? load !== undefined
    : standing === Standing.Asleep && isHostLost !== true
}

/** A sleeper does nothing, but one whose host is lost may not be a sleeper any more. */
function isSilent(member: Observed[number]): boolean {
  const { standing } = member
  return (standing === Standing.Counted || standing === Standing.Asleep) && !isServing(member)
}

/**
 * One that sleeps counts, and does nothing. So does, as far as is known, one that does not tell, until its
 * host is lost: then the others have its share of the load, and speak for all.
 */
function lookAt(members: Observed, atMs: number): Look | undefined {
  const counted = members.filter(
    ({ standing }) => standing === Standing.Counted || standing === Standing.Asleep,
  )
  if (counted.length === 0) return undefined
  const heard = counted.filter((member) => member.isHostLost !== true || !isSilent(member))
  const loads = (heard.length === 0 ? counted : heard).map(({ standing, load }) =>
    standing === Standing.Counted && load !== undefined ? load : noLoad,
  )
  return {
    atMs,
    counted: counted.map(({ uuid }) => uuid).toSorted(),
    metrics: means(loads),
    incomplete: counted.some(isSilent),
  }
}

const metricNames = Object.values(AutoscaleMetric)
const noLoad = eachMetric(() => 0)

function means(values: readonly MetricValues[]): MetricValues {
  return eachMetric((metric) => values.reduce((sum, value) => sum + value[metric], 0) / values.length)
}

export function eachMetric(valueOf: (metric: AutoscaleMetric) => number): MetricValues {
  return Object.fromEntries(metricNames.map((metric) => [metric, valueOf(metric)])) as MetricValues
}
