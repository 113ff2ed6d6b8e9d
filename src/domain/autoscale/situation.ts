import { explainOutcome, explainRest } from './explanation.ts'
import { AutoscalePhase, failuresForgottenMs } from './life.ts'
import type { AutoscaleLife } from './life.ts'
import type { AutoscaleView } from './watch.ts'
import type { Explanation } from '../instance/explanation.ts'
import { timeOf } from '../instance/words.ts'

/** Whether a service is configured to be scaled. */
export const Configured = {
  No: 'no',
  Yes: 'yes',
  /** The configuration is deleted, and its clones are still leaving. */
  Closing: 'closing',
} as const
export type Configured = (typeof Configured)[keyof typeof Configured]

/** Everything that is known about how a service is scaled at present. */
export interface AutoscaleSituation {
  readonly name: string
  readonly configured: Configured
  /** The names of clones that are being given back and still exist. */
  readonly leaving: readonly string[]
  /** What the workflow of the configuration reports. It is absent if no workflow runs. */
  readonly seen?: {
    readonly life: AutoscaleLife
    readonly view?: AutoscaleView
    readonly broken?: { readonly attempt: number; readonly message: string }
  }
}

/**
 * The age from which a view shows that something is wrong. If thousands of services are watched, a younger
 * view may only be waiting for its turn to be sent.
 */
export const staleAfterMs = 100_000

/** Says what autoscale does with a service at present and why, what comes next, and what failed. */
export function explainSituation(situation: AutoscaleSituation, nowMs: number): Explanation {
  const { name, seen } = situation
  const { now, next } = explanationOf(situation, nowMs)
  const failures = [lifeFailure(seen?.life, nowMs), brokenFailure(seen?.broken)].filter(
    (failure) => failure !== undefined,
  )
  const failure = failures.length === 0 ? {} : { failure: failures.join('; ') }
  return { now: `${name} ${now}`, next, ...failure }
}

function explanationOf({ configured, leaving, seen }: AutoscaleSituation, nowMs: number): Explanation {
  if (configured === Configured.No)
    return {
      now: 'is not configured to be scaled',
      next: 'nothing, until it is: POST /v1/services/autoscale',
    }
  if (configured === Configured.Closing) return closing(leaving)
  if (seen === undefined)
    return {
      now: 'is not watched: no workflow runs',
      next:
        'a sweep of the control worker starts it within seconds; where a person terminated it, ' +
        'the next change of its policies does',
    }
  const { life, view } = seen
  if (life.phase === AutoscalePhase.Watching) return watched(view, nowMs)
  if (life.phase !== AutoscalePhase.Aligning) return closing(leaving)
  return {
    now: life.cause === undefined ? 'is being aligned' : explainOutcome(life.cause),
    next: 'it is watched again when that is done',
  }
}

function closing(leaving: readonly string[]): Explanation {
  return {
    now: `is not configured any more: ${clonesLeft(leaving.length)}`,
    next: 'its master is started if it is stopped, and stays',
  }
}

function clonesLeft(count: number): string {
  if (count === 0) return 'no clone is left'
  return count === 1 ? '1 clone is leaving' : `${count} clones are leaving`
}

function watched(view: AutoscaleView | undefined, nowMs: number): Explanation {
  const { atMs, trouble, rest } = view ?? {}
  const since = atMs === undefined ? '' : ` since ${timeOf(atMs)}`
  if (trouble !== undefined) return { now: `can not be looked at${since}: ${trouble}`, next: nextLook }
  if (atMs === undefined) return { now: 'is being watched, and nothing was seen yet', next: nextLook }
  if (nowMs - atMs > staleAfterMs)
    return {
      now: `was seen last at ${timeOf(atMs)}`,
      next: 'another control worker takes it up within seconds, if one runs',
    }
  if (rest === undefined) return { now: 'is about to change', next: 'its instances are aligned' }
  return explainRest(rest)
}
const nextLook = 'a look at it every second'

function lifeFailure(life: AutoscaleLife | undefined, nowMs: number): string | undefined {
  if (life?.trouble === undefined || life.failures === 0) return undefined
  const { trouble, failures, blockedUntilMs = nowMs, failedAtMs = nowMs } = life
  if (nowMs - failedAtMs > failuresForgottenMs) return undefined
  const times = failures === 1 ? '' : ` (${failures} times in a row)`
  const until = blockedUntilMs > nowMs ? `, nothing is added before ${timeOf(blockedUntilMs)}` : ''
  return `${trouble}${times}${until}`
}

function brokenFailure(broken: { readonly attempt: number; readonly message: string } | undefined) {
  return broken === undefined ? undefined : `attempt ${broken.attempt}: ${broken.message}`
}
