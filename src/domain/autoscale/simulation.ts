import { emptyMemory, observeService } from './decision.ts'
import type { AutoscaleMemory, AutoscaleVerdict } from './decision.ts'
import type { AutoscaleOutcome } from './outcome.ts'
import { AutoscalePhase, autoscaleWork, decideAutoscale, newAutoscaleLife } from './life.ts'
import type { AutoscaleLife } from './life.ts'
import type { AlignedSize } from './alignment.ts'
import { observationIntervalMs } from './looks.ts'
import { sizeOf, Standing } from './members.ts'
import type { AutoscaleConfiguration } from './policy.ts'
import { proposeSize } from './proposal.ts'
import type { MetricValues } from './proposal.ts'
import type { Demand } from './load-curve.ts'
import { busyWith, loadAt, SimulatedService } from './simulated-service.ts'
import type { SimulatedWorld } from './simulated-service.ts'

export interface SimulationSettings extends SimulatedWorld {
  readonly demand: Demand
  readonly durationMs: number
}

/** One moment of a simulation. */
export interface SimulatedMoment {
  readonly atMs: number
  /** What is asked of all instances together. */
  readonly demand: MetricValues
  /** How many instances that would keep busy: 2.5 is what two and a half of them can serve. */
  readonly busy: number
  /** The share of the demand that nobody serves. */
  readonly unserved: number
  /** The size at the look, before anything is done. */
  readonly size: number
  /** How many instances serve at the look, and how many after the outcome was carried out. */
  readonly serving: number
  readonly servingThen: number
  /** Instances that have warmed up. */
  readonly warm: number
  /** The number of instances at which no policy would want more. */
  readonly needed: number
  /** All instances, including those that start or drain. */
  readonly held: number
  readonly target: number
  readonly metrics?: MetricValues
  readonly outcome?: AutoscaleOutcome
  readonly rest?: AutoscaleVerdict['rest']
  /** The result of the alignment, if the outcome led to one. */
  readonly aligned?: AlignedSize
  /** Whether the load of some instance that counts is unknown. */
  readonly loadUnknown: boolean
}

/**
 * Simulates what a configuration does under a load: the same looks, decisions, back-offs and alignments as in
 * a stack, once a second, in a modelled service. After every outcome the memory of the looks is dropped, as a
 * new watch begins without one.
 */
export function* simulateAutoscale(settings: SimulationSettings): Generator<SimulatedMoment, void> {
  const service = new SimulatedService(settings)
  let life = newAutoscaleLife({})
  let memory: AutoscaleMemory = emptyMemory
  for (let nowMs = 0; nowMs <= settings.durationMs; nowMs += observationIntervalMs) {
    service.advance(nowMs)
    const demand = settings.demand(nowMs)
    const busy = busyWith(demand, settings.capacities)
    const { serving } = service
    const members = service.members(demand, nowMs)
    const warm = service.warm(nowMs)
    const { target = sizeOf(members), blockedUntilMs, failedAtMs } = life
    const verdict = observeService(memory, {
      nowMs,
      configuration: settings.configuration,
      members,
      target,
      ...(blockedUntilMs !== undefined && { blockedUntilMs }),
      ...(failedAtMs !== undefined && { failedAtMs }),
    })
    const { outcome, rest, size, metrics } = verdict
    memory = outcome === undefined ? verdict.memory : emptyMemory
    let aligned: AlignedSize | undefined
    if (outcome !== undefined) [life, aligned] = act(service, life, outcome, nowMs)
    yield {
      atMs: nowMs,
      demand,
      busy,
      unserved: busy === 0 ? 0 : Math.max(0, 1 - serving / busy),
      size,
      serving,
      servingThen: service.serving,
      warm,
      needed: neededSize(settings, demand),
      held: service.held,
      target: life.target ?? target,
      ...(metrics !== undefined && { metrics }),
      ...(outcome !== undefined && { outcome }),
      ...(rest !== undefined && { rest }),
      ...(aligned !== undefined && { aligned }),
      loadUnknown: members.some(({ standing, load }) => standing === Standing.Counted && load === undefined),
    }
  }
}

function act(
  service: SimulatedService,
  before: AutoscaleLife,
  outcome: AutoscaleOutcome,
  nowMs: number,
): [AutoscaleLife, AlignedSize | undefined] {
  const life = decideAutoscale(before, { kind: 'watched', outcome }, nowMs)
  const work = autoscaleWork(life)
  if (life.phase !== AutoscalePhase.Aligning || work?.kind !== 'align') return [life, undefined]
  const { target = 0, mayAdd } = work.input
  const result = service.align({ target, mayAdd, cause: outcome }, nowMs)
  return [decideAutoscale(life, { kind: 'aligned', result }, nowMs), result]
}

/** Returns the smallest size at which no policy would want more, or `maxSize` if there is none. */
export function neededSize(
  settings: {
    readonly configuration: AutoscaleConfiguration
    readonly capacities: MetricValues
  },
  demand: MetricValues,
): number {
  const { minSize, maxSize, policies } = settings.configuration
  for (let size = Math.max(1, minSize); size < maxSize; size++) {
    const proposal = proposeSize(policies, size, loadAt(demand, size, settings.capacities))
    if (proposal === undefined || proposal.size <= size) return size
  }
  return maxSize
}
