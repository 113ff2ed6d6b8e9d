import {
  advisedAtMs,
  askAgainAtMs,
  maxAttempts,
  nextAttemptAtMs,
  putOffUntilMs,
  refusedAgainAtMs,
  renewalAtMs,
} from './schedule.ts'
import type { RenewalAdvice, Validity } from './schedule.ts'
import { CertificateState } from '../service/handler.ts'

/**
 * The life of a certificate that Roost gets by itself:
 *
 *   pending ──due──► order ► prove ► finalise ► install ──installed──► valid ──renewal is due──► the same steps, still valid
 *      ▲               │       │        │          │                     │
 *      └── back-off ◄──┴───────┴────────┴──────────┘                     └── expired before a renewal came ──► pending
 *
 *   pending ──the last attempt failed, or the authority refused the name──► error ──retry──► pending
 *
 * What an authority says of its own load, and its being away, is no failure: it is asked again when it says,
 * and the attempt goes on where it was. `decideCertificate` is total; what comes late, twice or out of order
 * changes nothing. Plain JSON.
 */
export interface CertificateLife {
  readonly state: CertificateState
  /** Of the attempt under way; with `nextAtMs` it is put off until then. */
  readonly step?: CertificateStep
  /** Attempts of the present sequence, the one under way included; 0 while nothing is to be done. */
  readonly attempt: number
  /** When the next attempt, the step that the authority put off, or the renewal is due. */
  readonly nextAtMs?: number
  /** How often in a row the authority put the step off. */
  readonly delays?: number
  /** Of the last attempt, or why it is put off, for the owner; it stays until a certificate is installed. */
  readonly failure?: string
  readonly validity?: Validity
  /** While valid and at rest, the authority is asked when it would like the renewal: now, or at that time. */
  readonly asking?: true
  readonly askAtMs?: number
  /** Grows by one with every change that a reader sees. */
  readonly revision: number
  readonly deleted?: true
}

export const CertificateStep = {
  /** An order with the authority, and the key: both are kept before anything is asked by them. */
  Order: 'order',
  /** The challenge is shown and the authority looks at it. */
  Prove: 'prove',
  Finalise: 'finalise',
  Install: 'install',
} as const
export type CertificateStep = (typeof CertificateStep)[keyof typeof CertificateStep]

/**
 * `failed`: another attempt may do. `later`: the authority is away, or wants to be left alone. `refused`: it
 * never issues this.
 */
export type StepVerdict = 'failed' | 'later' | 'refused'

export type CertificateLifeEvent =
  /** The workflow is there to work. */
  | { readonly kind: 'begin' }
  /** Time went by. */
  | { readonly kind: 'tick' }
  /** Of the last step, `installed` is told instead. */
  | { readonly kind: 'step-done'; readonly step: CertificateStep }
  | { readonly kind: 'installed'; readonly validity: Validity }
  | {
      readonly kind: 'step-failed'
      readonly step: CertificateStep
      readonly verdict: StepVerdict
      readonly reason: string
      readonly retryAtMs?: number
    }
  /** The authority was asked; it need not have an opinion. */
  | { readonly kind: 'renewal-advised'; readonly advice: RenewalAdvice }
  /** A person does not want to wait for the next attempt. */
  | { readonly kind: 'retry' }
  /** Its row is not there any more: found out, or told. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'delete' }
export type CertificateEventKind = CertificateLifeEvent['kind']

/** Whose life it is and when: `spread` is `spreadOf` its uuid. */
export interface CertificateMoment {
  readonly nowMs: number
  readonly spread: number
}

export const newCertificateLife: CertificateLife = {
  state: CertificateState.Pending,
  attempt: 0,
  revision: 0,
}

/** Pure. Repeating an event is harmless. */
export function decideCertificate(
  life: CertificateLife,
  event: CertificateLifeEvent,
  moment: CertificateMoment,
): CertificateLife {
  if (life.deleted === true) return life
  const moves: Moves = movesOf[life.state]
  const next = apply(moves, life, { event, moment })
  return sameForReaders(life, next) ? next : { ...next, revision: life.revision + 1 }
}

export type CertificateWork = CertificateStep | 'ask'

/** What has to be done now; never more than one thing. */
export function certificateWork(life: CertificateLife): CertificateWork | undefined {
  if (life.deleted === true) return undefined
  if (life.step !== undefined && life.nextAtMs === undefined) return life.step
  return life.asking === true ? 'ask' : undefined
}

/** When `tick` has something to find; undefined where only work or a message brings it on. */
export function certificateWakeAtMs({
  state,
  nextAtMs,
  askAtMs,
  validity,
  deleted,
}: CertificateLife): number | undefined {
  if (deleted === true) return undefined
  const ends = state === CertificateState.Valid ? validity?.notAfterMs : undefined
  const times = [nextAtMs, askAtMs, ends].filter((time) => time !== undefined)
  return times.length === 0 ? undefined : Math.min(...times)
}

interface Told<Kind extends CertificateEventKind> {
  readonly event: Extract<CertificateLifeEvent, { readonly kind: Kind }>
  readonly moment: CertificateMoment
}
type Move<Kind extends CertificateEventKind> = (life: CertificateLife, told: Told<Kind>) => CertificateLife
type Moves = { readonly [Kind in CertificateEventKind]: Move<Kind> }

function apply<Kind extends CertificateEventKind>(
  moves: Moves,
  life: CertificateLife,
  told: Told<Kind>,
): CertificateLife {
  return (moves[told.event.kind] as Move<Kind>)(life, told)
}

const stay = (life: CertificateLife): CertificateLife => life
const over = ({ state, attempt, revision }: CertificateLife): CertificateLife => ({
  state,
  attempt,
  revision,
  deleted: true,
})

const movesOf: Record<CertificateState, Moves> = {
  [CertificateState.Pending]: {
    begin: (life) => (life.nextAtMs === undefined ? underWay(life) : life),
    tick: whenDue,
    'step-done': stepOn,
    installed: install,
    'step-failed': failPending,
    'renewal-advised': stay,
    retry: hurry,
    gone: over,
    delete: over,
  },
  [CertificateState.Valid]: {
    begin: beginValid,
    tick: tickValid,
    'step-done': stepOn,
    installed: install,
    'step-failed': failRenewal,
    'renewal-advised': advise,
    retry: (life, told) => (life.attempt === 0 ? life : hurry(life, told)),
    gone: over,
    delete: over,
  },
  [CertificateState.Error]: {
    begin: stay,
    tick: stay,
    'step-done': stay,
    installed: stay,
    'step-failed': stay,
    'renewal-advised': stay,
    retry: (life) => attemptOf({ ...life, state: CertificateState.Pending }, 1),
    gone: over,
    delete: over,
  },
}

const nextStep = {
  [CertificateStep.Order]: CertificateStep.Prove,
  [CertificateStep.Prove]: CertificateStep.Finalise,
  [CertificateStep.Finalise]: CertificateStep.Install,
  [CertificateStep.Install]: undefined,
} satisfies Record<CertificateStep, CertificateStep | undefined>

/** From its first step. What was done of it before is found again, whatever began it. */
function attemptOf(life: CertificateLife, attempt: number): CertificateLife {
  return { ...waiting(life), step: CertificateStep.Order, attempt }
}

/** Nothing is under way and nothing is due: what is said besides is up to the caller. */
function waiting({ state, attempt, revision, failure, validity }: CertificateLife): CertificateLife {
  return {
    state,
    attempt,
    revision,
    ...(failure !== undefined && { failure }),
    ...(validity !== undefined && { validity }),
  }
}

/** Its attempt has begun, or begins. A row does not say at which step it was. */
function underWay(life: CertificateLife): CertificateLife {
  return life.step === undefined ? attemptOf(life, Math.max(life.attempt, 1)) : life
}

function nextAttempt(life: CertificateLife): CertificateLife {
  const bound = life.state === CertificateState.Pending ? maxAttempts : Number.MAX_SAFE_INTEGER
  return attemptOf(life, Math.min(life.attempt + 1, bound))
}

function resume({ nextAtMs: _due, ...life }: CertificateLife): CertificateLife {
  return life
}

function whenDue(life: CertificateLife, { moment }: Told<'tick'>): CertificateLife {
  if (life.nextAtMs === undefined || moment.nowMs < life.nextAtMs) return life
  return life.step === undefined ? nextAttempt(life) : resume(life)
}

/** What waits is tried now: the step that was put off, or a new sequence of attempts. */
function hurry(life: CertificateLife, _told: Told<'retry'>): CertificateLife {
  if (life.step === undefined) return attemptOf(life, 1)
  const { delays: _forgotten, ...resumed } = resume(life)
  return resumed
}

function isAt(life: CertificateLife, step: CertificateStep): boolean {
  return life.step === step && life.nextAtMs === undefined
}

function stepOn(life: CertificateLife, { event }: Told<'step-done'>): CertificateLife {
  const step = nextStep[event.step]
  if (step === undefined || !isAt(life, event.step)) return life
  const { delays: _over, ...rest } = life
  return { ...rest, step }
}

function install(life: CertificateLife, { event, moment }: Told<'installed'>): CertificateLife {
  if (!isAt(life, CertificateStep.Install)) return life
  const { validity } = event
  return {
    state: CertificateState.Valid,
    attempt: 0,
    nextAtMs: renewalAtMs(validity, moment),
    validity,
    asking: true,
    revision: life.revision,
  }
}

function failPending(life: CertificateLife, told: Told<'step-failed'>): CertificateLife {
  const { event, moment } = told
  if (!isAt(life, event.step)) return life
  if (event.verdict === 'later') return putOff(life, told)
  const failed = { ...waiting(life), failure: event.reason }
  if (event.verdict === 'refused' || life.attempt >= maxAttempts) {
    return { ...failed, state: CertificateState.Error }
  }
  return { ...failed, nextAtMs: nextAttemptAtMs(life.attempt, moment.nowMs) }
}

/** The one that there is serves on, whatever the authority says of the next. */
function failRenewal(life: CertificateLife, told: Told<'step-failed'>): CertificateLife {
  const { event, moment } = told
  if (!isAt(life, event.step)) return life
  if (event.verdict === 'later') return putOff(life, told)
  const nextAtMs =
    event.verdict === 'refused' ? refusedAgainAtMs(moment.nowMs) : nextAttemptAtMs(life.attempt, moment.nowMs)
  return { ...waiting(life), failure: event.reason, nextAtMs }
}

function putOff(life: CertificateLife, { event, moment }: Told<'step-failed'>): CertificateLife {
  const delays = life.delays ?? 0
  const { retryAtMs } = event
  const told = { delays, ...(retryAtMs !== undefined && { retryAtMs }) }
  return {
    ...life,
    failure: event.reason,
    delays: delays + 1,
    nextAtMs: putOffUntilMs(told, moment.nowMs),
  }
}

function hasEnded({ validity }: CertificateLife, { nowMs }: CertificateMoment): boolean {
  return validity === undefined || nowMs >= validity.notAfterMs
}

function beginValid(life: CertificateLife, { moment }: Told<'begin'>): CertificateLife {
  if (life.validity === undefined) return expire(life)
  if (life.attempt > 0) return life.nextAtMs === undefined ? underWay(life) : life
  const asks = life.askAtMs === undefined ? { asking: true as const } : {}
  return { ...life, ...asks, nextAtMs: life.nextAtMs ?? renewalAtMs(life.validity, moment) }
}

function tickValid(life: CertificateLife, told: Told<'tick'>): CertificateLife {
  const { moment } = told
  if (hasEnded(life, moment)) return expire(life)
  const moved = whenDue(life, told)
  if (moved.askAtMs === undefined || moment.nowMs < moved.askAtMs) return moved
  const { askAtMs: _due, ...asks } = moved
  return { ...asks, asking: true }
}

/**
 * The attempt under way, where there is one, is the first of the new sequence; what the authority put off
 * stays put off.
 */
function expire({ validity: _ended, ...life }: CertificateLife): CertificateLife {
  const pending = { ...life, state: CertificateState.Pending }
  return life.step === undefined ? attemptOf(pending, 1) : { ...pending, attempt: 1 }
}

/** Counts while it rests: an attempt that has begun is not put off again. */
function advise(life: CertificateLife, { event, moment }: Told<'renewal-advised'>): CertificateLife {
  if (life.asking === undefined || life.validity === undefined) return life
  const { asking: _answered, ...rest } = life
  const { advice } = event
  const advised =
    advice.window === undefined ? {} : { nextAtMs: advisedAtMs(life.validity, advice.window, moment) }
  return { ...rest, ...advised, askAtMs: askAgainAtMs(advice, moment.nowMs) }
}

function sameForReaders(one: CertificateLife, other: CertificateLife): boolean {
  return (
    one.state === other.state &&
    one.attempt === other.attempt &&
    one.nextAtMs === other.nextAtMs &&
    one.failure === other.failure
  )
}
