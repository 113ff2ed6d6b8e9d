import type { AutoscaleOutcome, FailedMember, Judgement, RestReason, SizeDecision } from './outcome.ts'
import { observationsPerMetric } from './looks.ts'
import { AutoscaleMetric } from './policy.ts'
import type { AutoscaleStep } from './policy.ts'
import type { DecisionReport } from './report.ts'
import { scaleInReserve, scaleInSettleMs } from './shrinking.ts'
import type { Explanation } from '../instance/explanation.ts'

/**
 * Writes a time for people. A simulation, whose time does not begin with the epoch, writes it in a way of its
 * own.
 */
export type Clock = (atMs: number) => string
const isoClock: Clock = (atMs) => new Date(atMs).toISOString()

/** How many names a sentence lists. Further ones are only counted. */
const namesTold = 5

/** Says what is to be done and why, in words that follow the service's name. */
export function explainOutcome(outcome: AutoscaleOutcome): string {
  return byOutcome[outcome.kind](outcome as never)
}

/** Says why the size stays and what comes next, in words that follow the service's name. */
export function explainRest(rest: RestReason, clock: Clock = isoClock): Explanation {
  return byRest[rest.kind](rest as never, clock)
}

/** Says in a sentence what was done and why. */
export function explainDecision({ cause, before, after, added, givenBack, refusal }: DecisionReport): string {
  const size = before === after ? `Stayed at ${after}` : `Went from ${before} to ${after}`
  const changes = [
    ...(added.length === 0 ? [] : [`added ${listed(added)}`]),
    ...(givenBack.length === 0 ? [] : [`gave back ${listed(givenBack)}`]),
  ]
  const done = [size, ...changes].join(', ')
  const because = cause.kind === 'closed' ? 'its configuration was deleted' : causeOf(cause)
  const missing = refusal === undefined ? '' : ` Not all could be added: ${refusal}.`
  return `${done}: ${because}.${missing}`
}

/** Writes a value with its unit, such as `640 millicores per instance`. */
export function amountOf(metric: AutoscaleMetric, value: number): string {
  const { unit, decimals } = unitOf[metric]
  const rounded = Number(value.toFixed(decimals))
  // Rounding up a value just below a bound would make it seem to have reached the bound.
  const told = Number.isInteger(rounded) && rounded > value ? rounded - 10 ** -decimals : rounded
  return `${told} ${unit} per instance`
}

const unitOf = {
  [AutoscaleMetric.Cpu]: { unit: 'millicores', decimals: 0 },
  [AutoscaleMetric.InFlight]: { unit: 'requests in flight', decimals: 1 },
  [AutoscaleMetric.RequestsPerSecond]: { unit: 'requests per second', decimals: 1 },
} satisfies Record<AutoscaleMetric, { readonly unit: string; readonly decimals: number }>

/** Writes the bounds of a step, such as `lower bound 500 inclusive, upper bound 800 exclusive`. */
export function boundsOf({ lowerBound, upperBound }: AutoscaleStep): string {
  return [
    ...(lowerBound === undefined ? [] : [`lower bound ${lowerBound} inclusive`]),
    ...(upperBound === undefined ? [] : [`upper bound ${upperBound} exclusive`]),
  ].join(', ')
}

type OutcomeOf<Kind extends AutoscaleOutcome['kind']> = Extract<AutoscaleOutcome, { readonly kind: Kind }>
type RestOf<Kind extends RestReason['kind']> = Extract<RestReason, { readonly kind: Kind }>

const byOutcome = {
  replace: ({ failed }) => `replaces ${failedList(failed)}`,
  align: ({ target, size }) => `goes from ${size} to ${target}: ${alignedBecause}`,
  resize: ({ decision }) => `goes from ${decision.from} to ${decision.to}: ${reasonOf(decision)}`,
  recovered: () => 'has an instance again that stays up: what failed before counts no more',
} satisfies { [Kind in AutoscaleOutcome['kind']]: (outcome: OutcomeOf<Kind>) => string }

const alignedBecause = 'that many were decided on, within min_size and max_size'

function causeOf(cause: AutoscaleOutcome): string {
  if (cause.kind === 'resize') return reasonOf(cause.decision)
  if (cause.kind === 'align') return alignedBecause
  if (cause.kind === 'recovered') return explainOutcome(cause)
  return `${failedList(cause.failed)} ${cause.failed.length === 1 ? 'is' : 'are'} replaced`
}

function reasonOf(decision: SizeDecision): string {
  return `${judged(decision)}${otherSize(decision)}`
}

/** Says why the decided size differs from the proposed one. Returns an empty text if they are equal. */
function otherSize({ from, to, proposed }: SizeDecision): string {
  if (to === proposed) return ''
  if (to > from) return `; max_size allows ${to}`
  return `; ${to} is as far down as min_size, and a load that may rise again, allow`
}

const byRest = {
  'no-policy': () => ({ now: 'has no policy', next: 'nothing, until a policy is added' }),
  observing: ({ looks }) => {
    const missing = Math.max(1, observationsPerMetric - looks)
    return {
      now: `is being observed: ${looks} of ${observationsPerMetric} looks at the same instances`,
      next: `a decision in ${missing} s`,
    }
  },
  warming: ({ names }) => ({
    now: `waits for ${listed(names)} to start and to warm up`,
    next: 'more are added only if even those will not do; none is given back before all are warm',
  }),
  'load-unknown': ({ names }) => ({
    now: `does not know what ${listed(names)} ${names.length === 1 ? 'does' : 'do'}: no host tells`,
    next: 'none is given back until that is known; more are added if the others alone need them',
  }),
  'no-step': () => ({
    now: 'stays as it is: no policy has a step for what is measured',
    next: 'a change when what is measured is in a step that wants one',
  }),
  'right-size': ({ judgement }) => ({
    now: `has the size that it needs: ${judged(judgement)}`,
    next: 'a change when what is measured leaves that step',
  }),
  'at-bound': ({ bound, judgement }) => ({
    now: `is at its ${bound}: ${judged(judgement)}`,
    next: `${bound === 'max_size' ? 'no more' : 'no fewer'}, whatever is measured`,
  }),
  blocked: ({ untilMs }, clock) => ({
    now: 'adds nothing at present: what was tried last failed',
    next: `at ${clock(untilMs)} it is tried again, if it is still wanted`,
  }),
  'standing-in': ({ names }) => ({
    now: `keeps more than it needs until ${listed(names)} ${names.length === 1 ? 'serves' : 'serve'}`,
    next: 'what is too much is given back then',
  }),
  settling: ({ untilMs, judgement }, clock) => ({
    now: `does not need all it has: ${judged(judgement)}`,
    next: `some are given back at ${clock(untilMs)}, if that is so at every look of ${scaleInSettleMs / 1_000} s`,
  }),
  'would-return': ({ judgement, wantedBack: { policy, metric, predicted } }) => ({
    now:
      `stays as it is: ${judged(judgement)}; but with one fewer, ${policy} would want it back ` +
      `at up to ${amountOf(metric, predicted)}, ${scaleInReserve * 100} % of reserve included`,
    next: 'some are given back when the load has fallen further',
  }),
} satisfies {
  [Kind in RestReason['kind']]: (rest: RestOf<Kind>, clock: Clock) => Explanation
}

/** Says which policy wants which size, and for which measured value. */
function judged({ policy, metric, value, step, counted, proposed }: Judgement): string {
  const mean = counted === 1 ? '' : `, the mean of ${counted},`
  return `policy ${policy} wants ${proposed}, because ${amountOf(metric, value)}${mean} is in its step with ${boundsOf(step)}`
}

function failedList(failed: readonly FailedMember[]): string {
  return listed(failed.map(({ name, reason }) => `${name} (${reason})`))
}

function listed(names: readonly string[]): string {
  const told = names.slice(0, namesTold)
  const more = names.length - told.length
  if (more > 0) return `${told.join(', ')} and ${more} more`
  return told.length < 2 ? told.join('') : `${told.slice(0, -1).join(', ')} and ${told.at(-1)}`
}
