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
 * An authority that is overloaded or away is no failure: it is asked again at the time it names, and the
 * attempt goes on with the same step. `decideCertificate` is total. An event that comes late, twice or out of
 * order changes nothing. Plain JSON.
 */
export interface CertificateLife {
  readonly state: CertificateState
  /** The step of the attempt under way. With `nextAtMs` it is put off until then. */
  readonly step?: CertificateStep
  /** Attempts of the present sequence, including the one under way; 0 while there is nothing to do. */
  readonly attempt: number
  /** When the next attempt, the step that the authority put off, or the renewal is due. */
  readonly nextAtMs?: number
  /** How often in a row the authority put the step off. */
  readonly delays?: number
  /**
   * For the owner: why the last attempt failed, or why it is put off. It stays until a certificate is
   * installed.
   */
  readonly failure?: string
  readonly validity?: Validity
  /**
   * While the certificate is valid and no attempt runs, the authority is asked when it would like the
   * renewal: now if `asking`, or at `askAtMs`.
   */
  readonly asking?: true
  readonly askAtMs?: number
  /** Grows by one with every change that readers see. */
  readonly revision: number
  readonly deleted?: true
}

export const CertificateStep = {
  /** The order with the authority, and the key. Both are stored before they are used. */
  Order: 'order',
  /** The challenge's answer is published, and the authority checks it. */
  Prove: 'prove',
  Finalise: 'finalise',
  Install: 'install',
} as const
export type CertificateStep = (typeof CertificateStep)[keyof typeof CertificateStep]

/**
 * How a step failed. `failed` means that another attempt may succeed, `later` that the authority can not be
 * reached or wants no requests for a while, `refused` that it never issues this certificate.
 */
export type StepVerdict = 'failed' | 'later' | 'refused'

export type CertificateLifeEvent =
  /** The workflow has started. */
  | { readonly kind: 'begin' }
  /** Time has passed. */
  | { readonly kind: 'tick' }
  /** A step other than the last has succeeded; for the last one there is `installed`. */
  | { readonly kind: 'step-done'; readonly step: CertificateStep }
  | { readonly kind: 'installed'; readonly validity: Validity }
  | {
      readonly kind: 'step-failed'
      readonly step: CertificateStep
      readonly verdict: StepVerdict
      readonly reason: string
      readonly retryAtMs?: number
    }
  /** The authority was asked about the renewal. It may have no opinion. */
  | { readonly kind: 'renewal-advised'; readonly advice: RenewalAdvice }
  /** A user does not want to wait for the next attempt. */
  | { readonly kind: 'retry' }
  /** The certificate's row does not exist any more. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'delete' }
export type CertificateEventKind = CertificateLifeEvent['kind']

/** The present time, and `spreadOf` the certificate's UUID. */
export interface CertificateMoment {
  readonly nowMs: number
  readonly spread: number
}

export const newCertificateLife: CertificateLife = {
  state: CertificateState.Pending,
  attempt: 0,
  revision: 0,
}

/** Returns the life after an event. Pure. Repeating an event is harmless. */
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

/** The one thing that has to be done now. */
export function certificateWork(life: CertificateLife): CertificateWork | undefined {
  if (life.deleted === true) return undefined
  if (life.step !== undefined && life.nextAtMs === undefined) return life.step
  return life.asking === true ? 'ask' : undefined
}

/** When the next `tick` is due; undefined while only work or a message changes the life. */
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

/**
 * Begins an attempt with its first step. Each step finds what an earlier attempt has already done, and does
 * not repeat it.
 */
function attemptOf(life: CertificateLife, attempt: number): CertificateLife {
  return { ...waiting(life), step: CertificateStep.Order, attempt }
}

/**
 * Returns the life with nothing under way and nothing due. The caller adds the other fields of its new
 * state.
 */
function waiting({ state, attempt, revision, failure, validity }: CertificateLife): CertificateLife {
  return {
    state,
    attempt,
    revision,
    ...(failure !== undefined && { failure }),
    ...(validity !== undefined && { validity }),
  }
}

/**
 * Returns the attempt that is under way, or else a new one. A life that was read from a row does not say at
 * which step its attempt was.
 */
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

/** Begins at once whatever waits: the step that was put off, or a new sequence of attempts. */
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

/**
 * Records that a renewal failed. The present certificate stays in use, whatever the authority says of the
 * next.
 */
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
 * Records that the certificate expired. If an attempt is under way, it becomes the first of the new
 * sequence; a step that the authority put off stays put off.
 */
function expire({ validity: _ended, ...life }: CertificateLife): CertificateLife {
  const pending = { ...life, state: CertificateState.Pending }
  return life.step === undefined ? attemptOf(pending, 1) : { ...pending, attempt: 1 }
}

/**
 * Records when the authority would like the renewal. This counts only while no attempt has begun: a begun
 * attempt is not put off because of it.
 */
function advise(life: CertificateLife, { event, moment }: Told<'renewal-advised'>): CertificateLife {
  if (life.asking === undefined || life.validity === undefined) return life
  const { asking: _answered, ...rest } = life
  const { advice } = event
  const advised =
    advice.window === undefined ? {} : { nextAtMs: advisedAtMs(life.validity, advice.window, moment) }
  return { ...rest, ...advised, askAtMs: askAgainAtMs(advice, moment.nowMs) }
}

/**
 * Whether readers see no difference between two lives. A deleted certificate has no row, and so no readers.
 */
function sameForReaders(one: CertificateLife, other: CertificateLife): boolean {
  if (other.deleted === true) return true
  return (
    one.state === other.state &&
    one.attempt === other.attempt &&
    one.nextAtMs === other.nextAtMs &&
    one.failure === other.failure
  )
}
