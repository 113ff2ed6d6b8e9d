import { planAlignment } from './alignment.ts'
import { addLook, isServing, metricsOf, namesOf, silentNames } from './looks.ts'
import type { Look } from './looks.ts'
import { failureOf, isOfSize, sizeOf, Standing } from './members.ts'
import type { AutoscaleMember } from './members.ts'
import type { AutoscaleObservation } from './observation.ts'
import type { AutoscaleOutcome, Judgement, RestReason } from './outcome.ts'
import type { AutoscaleConfiguration } from './policy.ts'
import { proposeSize } from './proposal.ts'
import type { MetricValues, SizeProposal } from './proposal.ts'
import { noteProposal, settledSize, settlesAtMs, smallestHeldSize } from './shrinking.ts'
import type { HeldSize, NotedProposal } from './shrinking.ts'
import { InstanceState } from '../instance/state.ts'
import { problemFreeMs } from '../instance/restart-schedule.ts'

/** What one look at a service hands on to the next look; plain JSON. */
export interface AutoscaleMemory {
  readonly looks: readonly Look[]
  /** The proposals of the last looks without a break, the newest last. */
  readonly proposals: readonly NotedProposal[]
}

export interface AutoscaleVerdict {
  readonly memory: AutoscaleMemory
  /** What has to be done now. If it is absent, nothing has to be done, and `rest` says why. */
  readonly outcome?: AutoscaleOutcome
  readonly rest?: RestReason
  readonly size: number
  /** The means over the last looks. They are absent until there are enough looks. */
  readonly metrics?: MetricValues
}

export const emptyMemory: AutoscaleMemory = { looks: [], proposals: [] }

/**
 * Decides after one look at a service what there is to do now, or why there is nothing. It is called every
 * `observationIntervalMs` with the memory that the call before returned. A memory that is lost, or older than
 * a few intervals, costs time and nothing else.
 */
export function observeService(memory: AutoscaleMemory, observation: AutoscaleObservation): AutoscaleVerdict {
  const view = viewOf(memory, observation)
  const { looks, proposals, metrics, size } = view
  const outcome =
    replacing(observation) ?? aligning(view) ?? growing(view) ?? givingBack(view) ?? recovering(observation)
  return {
    memory: { looks, proposals },
    size,
    ...(metrics !== undefined && { metrics }),
    ...(outcome === undefined ? { rest: restOf(view) } : { outcome }),
  }
}

/** A look with everything that is derived from it. */
interface View extends AutoscaleMemory {
  readonly observation: AutoscaleObservation
  readonly size: number
  readonly metrics?: MetricValues
  /** What the policies conclude from the metrics. */
  readonly judgement?: Judgement
  /** The proposed size within the bounds, or the target if there is no proposal. */
  readonly wanted: number
  /**
   * The smallest size at which the policies would not want more again. It is set only if fewer instances
   * are wanted.
   */
  readonly held?: HeldSize
  readonly isBlocked: boolean
}

function viewOf(memory: AutoscaleMemory, observation: AutoscaleObservation): View {
  const { members, configuration, target, nowMs, blockedUntilMs = 0 } = observation
  const size = sizeOf(members)
  const looks = addLook(memory.looks, observation)
  const metrics = metricsOf(looks)
  const base = looks.at(-1)?.counted.length ?? 0
  const proposal = metrics && proposeSize(configuration.policies, base, metrics)
  const wanted = proposal === undefined ? target : bounded(proposal.size, configuration)
  // True also while instances are missing that can not be added: the target then comes down to the size that
  // is right for the existing ones.
  const mayShrink = metrics !== undefined && size <= target && base === size && !looks.some(isIncomplete)
  const latest = looks.at(-1)?.metrics
  const held =
    mayShrink && wanted < size && latest !== undefined
      ? smallestHeldSize({ configuration, base, metrics: latest, wanted, target: size })
      : undefined
  return {
    observation,
    size,
    looks,
    ...(metrics !== undefined && { metrics }),
    ...(proposal !== undefined && { judgement: judgementOf(proposal, base) }),
    wanted,
    ...(held !== undefined && { held }),
    proposals: mayShrink ? noteProposal(memory.proposals, { atMs: nowMs, size: held?.size ?? wanted }) : [],
    isBlocked: nowMs < blockedUntilMs,
  }
}

function isIncomplete({ incomplete }: Look): boolean {
  return incomplete
}

function bounded(size: number, { minSize, maxSize }: AutoscaleConfiguration): number {
  return Math.min(maxSize, Math.max(minSize, size))
}

function replacing(observation: AutoscaleObservation): AutoscaleOutcome | undefined {
  const { members, nowMs, target, configuration } = observation
  const failed = members.flatMap((member) => {
    const reason = failureOf(member, nowMs)
    return reason === undefined ? [] : [{ uuid: member.uuid, name: member.name, reason }]
  })
  return failed.length === 0 ? undefined : { kind: 'replace', target: bounded(target, configuration), failed }
}

function aligning({ observation, size, isBlocked }: View): AutoscaleOutcome | undefined {
  const target = bounded(observation.target, observation.configuration)
  if (target === observation.target && target === size) return undefined
  const mustWait = size < target ? isBlocked : awaited(observation).length > 0
  return mustWait ? undefined : { kind: 'align', target, size }
}

/**
 * Returns the members that have to serve before the surplus is given back, such as a master that starts
 * again while a clone does its work. A surplus member that may be serving is given back only when as many
 * of the staying members certainly serve as are wanted.
 */
function awaited({ members, target, configuration }: AutoscaleObservation): readonly AutoscaleMember[] {
  const wanted = bounded(target, configuration)
  const { retire } = planAlignment(members, { target: wanted })
  const going = new Set(retire.map(({ uuid }) => uuid))
  const ofSize = members.filter(isOfSize)
  const staying = ofSize.filter(({ uuid }) => !going.has(uuid))
  const awaitedNow = staying.filter((member) => !isServing(member))
  const mayServe = ofSize.filter(({ uuid, state }) => going.has(uuid) && servingStates.includes(state))
  const serving = staying.length - awaitedNow.length
  return serving < Math.min(wanted, serving + mayServe.length) ? awaitedNow : []
}
const servingStates: readonly InstanceState[] = [InstanceState.Running, InstanceState.Standby]

function growing(view: View): AutoscaleOutcome | undefined {
  const { wanted, isBlocked, observation } = view
  return wanted <= observation.target || isBlocked ? undefined : resizing(view, wanted)
}

function givingBack(view: View): AutoscaleOutcome | undefined {
  const { proposals, observation } = view
  const size = settledSize(proposals, observation.nowMs)
  return size === undefined || size >= observation.target ? undefined : resizing(view, size)
}

function resizing({ observation, judgement }: View, to: number): AutoscaleOutcome | undefined {
  if (judgement === undefined) return undefined
  return { kind: 'resize', target: to, decision: { from: observation.target, to, ...judgement } }
}

/**
 * Returns the outcome that past failures are forgotten, if they may be. A clone that is younger than the
 * last failure must have run without a problem for `problemFreeMs`: a clone that has just warmed up may be
 * about to crash like those before it.
 */
function recovering({ members, failedAtMs, nowMs }: AutoscaleObservation): AutoscaleOutcome | undefined {
  if (failedAtMs === undefined) return undefined
  const isUp: readonly Standing[] = [Standing.Counted, Standing.Asleep]
  const proof = members.some(
    ({ isMaster, createdAtMs, startedAtMs = Infinity, restartAttempt, standing }) =>
      !isMaster &&
      createdAtMs > failedAtMs &&
      restartAttempt === 0 &&
      isUp.includes(standing) &&
      nowMs >= startedAtMs + problemFreeMs,
  )
  return proof ? { kind: 'recovered' } : undefined
}

function restOf(view: View): RestReason {
  const { observation, size, looks, metrics, judgement, wanted, isBlocked } = view
  const { configuration, target, blockedUntilMs = 0, members } = observation
  if (isBlocked && (size < bounded(target, configuration) || wanted > target))
    return { kind: 'blocked', untilMs: blockedUntilMs }
  if (size > bounded(target, configuration))
    return { kind: 'standing-in', names: awaited(observation).map(({ name }) => name) }
  if (configuration.policies.length === 0) return { kind: 'no-policy' }
  const warming = namesOf(members, [Standing.Warming, Standing.Restarting])
  if (looks.length === 0) return { kind: 'warming', names: warming }
  if (metrics === undefined) return { kind: 'observing', looks: looks.length }
  if (judgement !== undefined && judgement.proposed > target)
    return { kind: 'at-bound', bound: 'max_size', judgement }
  if (warming.length > 0) return { kind: 'warming', names: warming }
  const silent = silentNames(members)
  if (silent.length > 0) return { kind: 'load-unknown', names: silent }
  if (judgement === undefined) return { kind: 'no-step' }
  return judgement.proposed === target ? { kind: 'right-size', judgement } : notFewer(view, judgement)
}

function notFewer({ observation, wanted, held, proposals }: View, judgement: Judgement): RestReason {
  if (wanted === observation.target) return { kind: 'at-bound', bound: 'min_size', judgement }
  if (held?.wantedBack !== undefined) return { kind: 'would-return', judgement, wantedBack: held.wantedBack }
  return { kind: 'settling', untilMs: settlesAtMs(proposals, observation), judgement }
}

function judgementOf({ size: proposed, ...found }: SizeProposal, counted: number): Judgement {
  return { ...found, counted, proposed }
}
