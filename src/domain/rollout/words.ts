import { InstanceState } from '../instance/state.ts'
import type { RolloutFacts, RolloutMove, Side } from './decision.ts'
import { RolloutPhase } from './phase.ts'

const nameOf: Readonly<Record<Side, string>> = { old: 'the old version', next: 'the new version' }

type Move<Kind extends RolloutMove['kind']> = Extract<RolloutMove, { readonly kind: Kind }>

/** What a move did, for people; undefined if it is not worth telling. */
export function moveWords(move: RolloutMove, facts: RolloutFacts): string | undefined {
  const tell = wordsOfMove[move.kind] as (move: RolloutMove, facts: RolloutFacts) => string | undefined
  return tell(move, facts)
}

const wordsOfMove: {
  readonly [Kind in RolloutMove['kind']]: (move: Move<Kind>, facts: RolloutFacts) => string | undefined
} = {
  wait: () => undefined,
  check: () => undefined,
  over: () => undefined,
  grow: ({ count }) => `made ${count} more of the new version`,
  give: (_move, { plan, step }) =>
    `gave ${plan.canary[step]} % of the traffic to the new version, whose instances are healthy`,
  hold: () => 'let requests wait, because the volume can be with one version only',
  stop: ({ side }) => `asked ${nameOf[side]} to stop`,
  start: ({ side }) => `asked ${nameOf[side]} to start`,
  'move-volumes': ({ to }) => `gave the volume to ${nameOf[to]}`,
  'next-step': (_move, { step }) => `found nothing wrong in step ${step + 1}`,
  finish: () => 'made the new version that of the service; the old one is kept',
  'go-back': ({ reason }) => `began to go back: ${reason}`,
  'turn-back': () => 'gave all traffic to the old version',
  stay: ({ reason }) => `stayed with the new version: ${reason}`,
  forget: () => 'deleted the old version',
}

/** What a rollout does now, and what it waits for. */
export function awaitedWords(facts: RolloutFacts): string {
  return wordsOfPhase[facts.phase](facts)
}

const wordsOfPhase: Readonly<Record<RolloutPhase, (facts: RolloutFacts) => string>> = {
  [RolloutPhase.Preparing]: ({ next, plan }) => {
    const sick = next.filter(({ passed }) => passed < plan.check.times)
    if (sick.length === 0) return 'the new version is healthy'
    return `waits until healthy: ${sick.map((one) => `${one.name} (${one.failed ?? one.state})`).join(', ')}`
  },
  [RolloutPhase.Baking]: ({ plan, step, sinceMs }) =>
    `watches the new version with ${plan.canary[step]} % of the traffic until ${timeOf(sinceMs + plan.bakeMs)}`,
  [RolloutPhase.Kept]: ({ keptUntilMs = 0 }) =>
    `the new version serves; the old one is kept until ${timeOf(keptUntilMs)}`,
  [RolloutPhase.Returning]: ({ old }) => {
    const down = old.filter(({ state }) => state !== InstanceState.Running).map(({ name }) => name)
    return down.length === 0 ? 'goes back to the old version' : `goes back: ${down.join(', ')} comes up`
  },
  [RolloutPhase.Done]: () => 'the new version serves, and the old one is deleted',
  [RolloutPhase.Returned]: () => 'the old version serves again',
}

/** What a rollout that is not over does and waits for, and what comes next, for an explanation. */
export interface RolloutExplanation {
  readonly phase: RolloutPhase
  /** The share of the new version, in percent. Absent: the traffic is not divided. */
  readonly percent?: number
  readonly now: string
  readonly next: string
}

export function explainRollout(facts: RolloutFacts, serviceName: string): RolloutExplanation {
  const { phase, percent, isRecalled } = facts
  return {
    phase,
    ...(percent !== undefined && { percent }),
    now: `${stepWords(facts)}${awaitedWords(facts)}${trafficWords(facts)}`,
    next: isRecalled
      ? 'it goes back to the old version, as it was asked to'
      : nextWords[phase](facts, serviceName),
  }
}

function stepWords({ phase, step, plan }: RolloutFacts): string {
  const hasSteps = phase === RolloutPhase.Preparing || phase === RolloutPhase.Baking
  return hasSteps ? `step ${step + 1} of ${plan.canary.length}: ` : ''
}

/** Who has the traffic, as far as the rest does not say it. */
function trafficWords({ phase, percent, isHeld }: RolloutFacts): string {
  if (isHeld) return '; requests wait at the gateways meanwhile'
  if (percent === undefined || phase === RolloutPhase.Baking) return ''
  return percent === 0
    ? '; the old version has all traffic'
    : `; the new version has ${percent} % of the traffic so far`
}

const nextWords: Readonly<Record<RolloutPhase, (facts: RolloutFacts, serviceName: string) => string>> = {
  [RolloutPhase.Preparing]: ({ plan, step, sinceMs }) =>
    `the new version gets ${plan.canary[step]} % of the traffic; it goes back if an instance is not healthy ` +
    `by ${timeOf(sinceMs + plan.check.limitMs)}`,
  [RolloutPhase.Baking]: ({ plan, step }) => {
    const share = plan.canary[step + 1]
    const next = share === undefined ? afterSteps(plan) : `the new version is prepared for ${share} %`
    return `${next}; it goes back if an instance fails or too many requests do`
  },
  [RolloutPhase.Kept]: (_facts, name) =>
    `the old version is deleted then; until then \`roost rollback ${name}\` goes back`,
  [RolloutPhase.Returning]: () => 'the new version is deleted when the old one has all traffic',
  [RolloutPhase.Done]: () => nothing,
  [RolloutPhase.Returned]: () => nothing,
}

const nothing = 'nothing, until the next rollout'

function afterSteps({ keepMs }: RolloutFacts['plan']): string {
  return `the new version is that of the service, and the old one is kept for ${keepMs / 1_000} s`
}

function timeOf(atMs: number): string {
  return new Date(atMs).toISOString()
}
