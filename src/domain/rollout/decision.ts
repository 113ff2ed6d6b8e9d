import { InstanceState } from '../instance/state.ts'
import { RolloutPhase } from './phase.ts'
import { leastErrors, retireDrainMs } from './plan.ts'
import type { RolloutPlan } from './plan.ts'

/** An instance of the new version, or one of the old version that the rollout replaces. */
export interface RolloutInstance {
  readonly uuid: string
  readonly name: string
  readonly state: InstanceState
  readonly restartCount: number
  /** Why its start failed, or how it ended. Absent: nothing is known to be wrong. */
  readonly trouble?: string
  /** How many checks in a row succeeded, and why the last one failed. */
  readonly passed: number
  readonly failed?: string
  /** When it was last checked. Absent: not yet. */
  readonly checkedAtMs?: number
  /** Whether it has the volume that it shares with its counterpart, or there is none. */
  readonly hasVolume: boolean
}

/** What gateways counted of the new version since the present step began. */
export interface StepTraffic {
  readonly requests: number
  /** Answers with a status of 500 and above. */
  readonly errors: number
  /** 95 of a hundred requests took no longer, as far as the bounds of the histogram tell. */
  readonly latencyMs: number
}

/** All that a decision is made from. */
export interface RolloutFacts {
  readonly plan: RolloutPlan
  readonly phase: RolloutPhase
  /** The index of the step in `plan.canary`. */
  readonly step: number
  /** When the phase began, and in `baking` the step. */
  readonly sinceMs: number
  /** The user's word: go back. */
  readonly isRecalled: boolean
  /** In `returning`: whether the old version has to come up first. */
  readonly revives: boolean
  /** Whether the instances have volumes, which only one version can have at a time. */
  readonly hasVolumes: boolean
  /** The share of the new version, in percent. Absent: the service is not divided. */
  readonly percent?: number
  /** Whether gateways let requests wait. */
  readonly isHeld: boolean
  /** How many instances the new version has to have in this step. */
  readonly wanted: number
  /** Whether an instance of the new version that replaces an old one was deleted. */
  readonly isIncomplete: boolean
  readonly next: readonly RolloutInstance[]
  readonly old: readonly RolloutInstance[]
  /** What was asked for in this phase already. */
  readonly asked: ReadonlySet<Asked>
  readonly traffic?: StepTraffic
  /** Until when the old version is kept. */
  readonly keptUntilMs?: number
}

export const Side = { Old: 'old', Next: 'next' } as const
export type Side = (typeof Side)[keyof typeof Side]

export type Asked = `${'stop' | 'start'}-${Side}`

/** What is to be done now. Each is idempotent, or guarded by the phase in the row. */
export type RolloutMove =
  | { readonly kind: 'wait'; readonly ms: number }
  /** Check these instances of the side, by UUID: those whose check is due. */
  | { readonly kind: 'check'; readonly side: Side; readonly uuids: readonly string[] }
  /** Make so many more copies of the new version. */
  | { readonly kind: 'grow'; readonly count: number }
  /** Give the new version its share of this step, and watch it. */
  | { readonly kind: 'give' }
  /** Have gateways let requests wait. */
  | { readonly kind: 'hold' }
  | { readonly kind: 'stop'; readonly side: Side }
  /** Give the volumes of the other side to this one. */
  | { readonly kind: 'move-volumes'; readonly to: Side }
  | { readonly kind: 'start'; readonly side: Side }
  | { readonly kind: 'next-step' }
  /** Make the new version that of the service, and detach the old one. */
  | { readonly kind: 'finish' }
  | { readonly kind: 'go-back'; readonly reason: string }
  /** Give all traffic to the old version, and give the new one back. */
  | { readonly kind: 'turn-back'; readonly reason?: string }
  /** The old version was deleted or does not come up: the new one stays. */
  | { readonly kind: 'stay'; readonly reason: string }
  /** Delete the old version. */
  | { readonly kind: 'forget' }
  /** Nothing is left to do. */
  | { readonly kind: 'over' }

const { Draining, Stopping } = InstanceState
/** The pause between two looks at what is awaited. */
const lookMs = 500
/** The pause while a version bakes: errors are noticed within this time. */
const watchMs = 1_000
/** The pause while the old version is kept. The user's word does not wait for it. */
const keepLookMs = 30_000
/** How long an old version may take to stop once its time is over: its requests end, then its program. */
const longestStopMs = retireDrainMs + 30_000
export const recalled = 'going back was asked for'

export function decideRollout(facts: RolloutFacts, nowMs: number): RolloutMove {
  return byPhase[facts.phase](facts, nowMs)
}

const byPhase: Readonly<Record<RolloutPhase, (facts: RolloutFacts, nowMs: number) => RolloutMove>> = {
  [RolloutPhase.Preparing]: prepare,
  [RolloutPhase.Baking]: bake,
  [RolloutPhase.Kept]: keep,
  [RolloutPhase.Returning]: goBack,
  [RolloutPhase.Done]: () => ({ kind: 'over' }),
  [RolloutPhase.Returned]: () => ({ kind: 'over' }),
}

function prepare(facts: RolloutFacts, nowMs: number): RolloutMove {
  const { plan, next, wanted } = facts
  const wrong = troubleOf(facts)
  if (wrong !== undefined) return { kind: 'go-back', reason: wrong }
  const sick = sickOf(next, plan)
  if (next.length >= wanted && sick === undefined && !isPending(Side.Next, facts)) return { kind: 'give' }
  if (isLate(facts, nowMs)) {
    const why = sick === undefined ? 'its turn did not come' : whyIn(sick)
    const reason = `${(sick ?? next[0])?.name} of the new version was not healthy within ${inSeconds(plan.check.limitMs)}: ${why}`
    return { kind: 'go-back', reason }
  }
  if (next.length < wanted) return { kind: 'grow', count: wanted - next.length }
  return handOverTo(Side.Next, facts) ?? checked(Side.Next, facts, nowMs)
}

/** Whether the side has to get the volumes, and requests have to wait for that. */
function isPending(side: Side, facts: RolloutFacts): boolean {
  return facts.hasVolumes && !(facts.isHeld && facts[side].every(({ hasVolume }) => hasVolume))
}

/**
 * What is left to do until the side has the volumes and has begun to start; undefined if nothing is. Requests
 * wait from before the other side stops until the side serves.
 */
function handOverTo(side: Side, facts: RolloutFacts): RolloutMove | undefined {
  const { hasVolumes, isHeld } = facts
  const other = side === Side.Next ? Side.Old : Side.Next
  if (hasVolumes && !isHeld) return { kind: 'hold' }
  if (isPending(side, facts)) {
    const isStopped = facts[other].every(({ state }) => state === InstanceState.Stopped)
    return isStopped ? { kind: 'move-volumes', to: side } : askOnce('stop', other, facts)
  }
  const sleeps = facts[side].some(({ state }) => state === InstanceState.Stopped)
  if (!sleeps) return undefined
  // The start is asked for once, and an instance that is still on its way down would miss it.
  const goesDown = facts[side].some(({ state }) => state === Draining || state === Stopping)
  return goesDown ? { kind: 'wait', ms: lookMs } : askOnce('start', side, facts)
}

function askOnce(what: 'stop' | 'start', side: Side, { asked }: RolloutFacts): RolloutMove {
  return asked.has(`${what}-${side}`) ? { kind: 'wait', ms: lookMs } : { kind: what, side }
}

function bake(facts: RolloutFacts, nowMs: number): RolloutMove {
  const { plan, step, sinceMs } = facts
  const wrong = troubleOf(facts) ?? brokenBound(facts)
  if (wrong !== undefined) return { kind: 'go-back', reason: wrong }
  const leftMs = sinceMs + plan.bakeMs - nowMs
  if (leftMs > 0) return { kind: 'wait', ms: Math.min(watchMs, leftMs) }
  return step + 1 < plan.canary.length ? { kind: 'next-step' } : { kind: 'finish' }
}

/** Why the new version has to go, from what its instances did; undefined if it may stay. */
function troubleOf({ isRecalled, isIncomplete, next, phase }: RolloutFacts): string | undefined {
  if (isRecalled) return recalled
  if (next.length === 0) return 'the instances of the new version were deleted'
  if (isIncomplete) return 'an instance of the new version was deleted'
  for (const { name, state, restartCount, trouble } of next) {
    const isStopped = state === InstanceState.Stopped
    if (restartCount > 0 || (isStopped && trouble !== undefined))
      return `${name} of the new version failed: ${trouble ?? 'it ended and was started again'}`
    if (isStopped && phase === RolloutPhase.Baking) return `${name} of the new version was stopped`
  }
  return undefined
}

function brokenBound({ traffic, plan, percent = 0 }: RolloutFacts): string | undefined {
  if (traffic === undefined) return undefined
  const { requests, errors, latencyMs } = traffic
  const { maxErrorPercent, maxLatencyMs } = plan
  if (errors >= leastErrors && errors * 100 > maxErrorPercent * requests) {
    const share = Math.round((errors * 1000) / requests) / 10
    return `with ${percent} % of the traffic, ${errors} of ${requests} requests to the new version failed (${share} %, more than ${maxErrorPercent} %)`
  }
  if (maxLatencyMs !== undefined && requests >= leastRequests && latencyMs > maxLatencyMs)
    return `with ${percent} % of the traffic, 95 % of the requests to the new version took up to ${latencyMs} ms, more than ${maxLatencyMs} ms`
  return undefined
}

/** Fewer requests say nothing about the slowest of them. */
const leastRequests = 20

function keep(facts: RolloutFacts, nowMs: number): RolloutMove {
  const { isRecalled, old, keptUntilMs = 0 } = facts
  if (isRecalled && old.length > 0) return { kind: 'go-back', reason: recalled }
  if (old.length === 0) return { kind: 'forget' }
  const runs = old.some(({ state }) => state !== InstanceState.Stopped)
  if (runs && !facts.asked.has('stop-old')) return { kind: 'stop', side: Side.Old }
  const leftMs = keptUntilMs - nowMs
  if (leftMs > 0) return { kind: 'wait', ms: Math.min(keepLookMs, leftMs) }
  // A deletion cuts requests off. A stop lets them end.
  return runs && leftMs > -longestStopMs ? { kind: 'wait', ms: lookMs } : { kind: 'forget' }
}

function goBack(facts: RolloutFacts, nowMs: number): RolloutMove {
  const { plan, old, next, hasVolumes } = facts
  // Without an old version, going back would delete all instances, and with them the volumes that they have.
  if (old.length === 0 && next.length > 0) return { kind: 'stay', reason: 'the old version was deleted' }
  // If the old version still runs, it needs no check.
  if (!facts.revives || old.length === 0) return { kind: 'turn-back' }
  const sick = sickOf(old, plan)
  if (sick === undefined && !isPending(Side.Old, facts)) return { kind: 'turn-back' }
  // Without its volume, the old version must not start, however long that takes.
  if (sick !== undefined && isLate(facts, nowMs) && !isPending(Side.Old, facts)) {
    const reason = `${sick.name} of the old version did not come up: ${whyIn(sick)}`
    // Without volumes the new version serves all the while.
    return { kind: hasVolumes ? 'turn-back' : 'stay', reason }
  }
  return handOverTo(Side.Old, facts) ?? checked(Side.Old, facts, nowMs)
}

function sickOf(side: readonly RolloutInstance[], { check }: RolloutPlan): RolloutInstance | undefined {
  return side.find(({ passed }) => passed < check.times)
}

function whyIn({ failed, trouble, state }: RolloutInstance): string {
  return failed ?? trouble ?? `it is ${state}`
}

function isLate({ sinceMs, plan }: RolloutFacts, nowMs: number): boolean {
  return nowMs - sinceMs >= plan.check.limitMs
}

/** Only what is up, or sleeps and can be woken, is worth a check. */
function isWorthACheck({ passed, state }: RolloutInstance, { check }: RolloutPlan): boolean {
  return passed < check.times && (state === InstanceState.Running || state === InstanceState.Standby)
}

/**
 * How long it is until the next check. Zero or less: the check is due. An instance that was never checked is
 * due at once, whenever the others were checked.
 */
function untilCheckMs({ checkedAtMs }: RolloutInstance, { check }: RolloutPlan, nowMs: number): number {
  return checkedAtMs === undefined ? 0 : checkedAtMs + check.intervalMs - nowMs
}

function checked(side: Side, facts: RolloutFacts, nowMs: number): RolloutMove {
  const { plan } = facts
  const waits = facts[side]
    .filter((one) => isWorthACheck(one, plan))
    .map((one) => ({ uuid: one.uuid, ms: untilCheckMs(one, plan, nowMs) }))
  const due = waits.filter(({ ms }) => ms <= 0)
  if (due.length > 0) return { kind: 'check', side, uuids: due.map(({ uuid }) => uuid) }
  return { kind: 'wait', ms: Math.min(lookMs, ...waits.map(({ ms }) => ms)) }
}

function inSeconds(ms: number): string {
  return `${ms / 1_000} s`
}
