import type { AutoscaleObservation } from './observation.ts'
import { Standing } from './members.ts'
import { AutoscaleMetric } from './policy.ts'
import type { MetricValues } from './proposal.ts'

/** The time between two looks at a service. */
export const observationIntervalMs = 1_000
/** How many looks a metric is the mean of. These looks follow each other and count the same instances. */
export const observationsPerMetric = 3
/**
 * The longest time between two looks that follow each other. If it is longer, the worker did not run, or
 * its clock was set.
 */
export const longestLookGapMs = 3 * observationIntervalMs

/** What one look saw of the instances that count. */
export interface Look {
  readonly atMs: number
  /** The UUIDs of the counted instances, sorted. */
  readonly counted: readonly string[]
  /** The mean of each metric over the counted instances. */
  readonly metrics: MetricValues
  /**
   * Whether the load of some counted instance is unknown. The metrics take an unknown load as 0, or leave
   * the instance out if its host is lost.
   */
  readonly incomplete: boolean
}

type Observed = AutoscaleObservation['members']

/**
 * Returns the last looks that follow each other and count the same instances, the newest last; none while no
 * instance counts.
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

/** Returns the mean of each metric over the looks, or undefined until there are enough looks. */
export function metricsOf(looks: readonly Look[]): MetricValues | undefined {
  return looks.length < observationsPerMetric ? undefined : means(looks.map(({ metrics }) => metrics))
}

export function namesOf(members: Observed, standings: readonly Standing[]): readonly string[] {
  return members.filter(({ standing }) => standings.includes(standing)).map(({ name }) => name)
}

/** Names the instances that count and whose load is unknown. */
export function silentNames(members: Observed): readonly string[] {
  return members.filter(isSilent).map(({ name }) => name)
}

/** Whether the member takes requests, as far as its host says. A sleeping member does: it wakes for them. */
export function isServing({ standing, load, isHostLost }: Observed[number]): boolean {
  return standing === Standing.Counted
    ? load !== undefined
    : standing === Standing.Asleep && isHostLost !== true
}

/** A sleeping instance has no load. But if its host is lost, it may have woken since. */
function isSilent(member: Observed[number]): boolean {
  const { standing } = member
  return (standing === Standing.Counted || standing === Standing.Asleep) && !isServing(member)
}

/**
 * A sleeping instance counts as zero load. So does an instance whose host does not answer. Once that host is
 * lost, the instance is left out: the others carry its share of the load by then.
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
