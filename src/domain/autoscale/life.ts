import { doublingDelayMs } from '../doubling-delay.ts'
import type { AlignedSize } from './alignment.ts'
import type { AutoscaleOutcome, FailedMember } from './outcome.ts'
import type { AutoscaleSettings } from './settings.ts'
import type { WatchInput, WatchResult } from './watch.ts'

/**
 * The life of an autoscale configuration.
 *
 *   watching ─── there is something to do ──────────────────────────────► aligning
 *   aligning ─── done ──────────────────────────────────────────────────► watching
 *   watching, aligning, over ─── the configuration is deleted ──────────► closing
 *   closing ──── all clones given back, master started, row gone ───────► over
 *   any phase ── the service is configured again ───────────────────────► watching, as a new life
 *
 * Watching and aligning also notice by themselves that the configuration was deleted.
 *
 * - Aligning brings the number of instances to the target from any number, so it may be repeated at any time.
 * - After an instance has failed, or could not be added, nothing is added before a back-off is over. The
 *   back-off doubles with each failure, until a clone that is younger than the last failure has run without a
 *   problem. If policies asked for the instances that could not be added, the target falls back to the size
 *   that was reached, and the policies ask again if need be. If somebody else asked, the decided size stays
 *   the target, unless the policies want fewer meanwhile.
 * - A service that is configured again counts as new: decisions about the configuration before it no longer
 *   count. This is so in the phase `over` too, while the workflow has not ended yet.
 * - A result of work (`watched`, `aligned`, `closed`) that comes late, twice or out of order changes nothing.
 */
export interface AutoscaleLife {
  readonly phase: AutoscalePhase
  /** The size that was last decided on; absent before the first decision. */
  readonly target?: number
  /** The reason for the alignment that is under way. */
  readonly cause?: AutoscaleOutcome
  /**
   * The number of back-offs in this series of failures; it chooses the length of the next one. A failure
   * within a back-off does not count.
   */
  readonly failures: number
  readonly failedAtMs?: number
  /**
   * The end of the back-off: no instance is added before this time. An alignment adds none if the field is
   * present; so the field is removed before an alignment if its time has passed.
   */
  readonly blockedUntilMs?: number
  /** For people: what failed, or why the last alignment did not reach its target. */
  readonly trouble?: string
}

export const AutoscalePhase = {
  Watching: 'watching',
  Aligning: 'aligning',
  Closing: 'closing',
  Over: 'over',
} as const
export type AutoscalePhase = (typeof AutoscalePhase)[keyof typeof AutoscalePhase]

/** The back-off after the first failure. It doubles with each: 5, 10, 20, 40, 80, 160, 300 s. */
export const firstBlockMs = 5_000
export const longestBlockMs = 300_000
const block = { firstMs: firstBlockMs, longestMs: longestBlockMs }
/**
 * A failure that comes this long after the last one, or later, begins a new series. The next failure of a
 * series comes sooner: after the longest back-off and the warm-up of a clone.
 */
export const failuresForgottenMs = 2 * longestBlockMs

export type AutoscaleLifeEvent =
  | { readonly kind: 'watched'; readonly outcome: WatchResult }
  | { readonly kind: 'aligned'; readonly result: AlignedSize }
  /** The work of closing has ended. `closed` is false if the service was configured again meanwhile. */
  | { readonly kind: 'closed'; readonly closed: boolean }
  | { readonly kind: 'configured' }
  | { readonly kind: 'delete' }
export type AutoscaleEventKind = AutoscaleLifeEvent['kind']

export function newAutoscaleLife({ target }: Pick<AutoscaleSettings, 'target'>): AutoscaleLife {
  return { phase: AutoscalePhase.Watching, failures: 0, ...(target !== undefined && { target }) }
}

/** Returns the life after an event. Pure. */
export function decideAutoscale(
  life: AutoscaleLife,
  event: AutoscaleLifeEvent,
  nowMs: number,
): AutoscaleLife {
  return movesOf[life.phase][event.kind](life, event as never, nowMs)
}

/** The one thing that has to be done now. */
export type AutoscaleWork =
  | { readonly kind: 'watch'; readonly input: Omit<WatchInput, 'serviceUuid'> }
  | {
      readonly kind: 'align'
      readonly input: {
        readonly target?: number
        readonly cause: AutoscaleOutcome
        readonly mayAdd: boolean
      }
    }
  | { readonly kind: 'close' }

export function autoscaleWork(life: AutoscaleLife): AutoscaleWork | undefined {
  const { phase, target, cause, blockedUntilMs, failedAtMs } = life
  const aim = target === undefined ? {} : { target }
  if (phase === AutoscalePhase.Closing) return { kind: 'close' }
  if (phase === AutoscalePhase.Aligning && cause !== undefined)
    return { kind: 'align', input: { ...aim, cause, mayAdd: blockedUntilMs === undefined } }
  if (phase === AutoscalePhase.Over) return undefined
  const input = {
    ...aim,
    ...(blockedUntilMs !== undefined && { blockedUntilMs }),
    ...(failedAtMs !== undefined && { failedAtMs }),
  }
  return { kind: 'watch', input }
}

type Move<Kind extends AutoscaleEventKind> = (
  life: AutoscaleLife,
  event: Extract<AutoscaleLifeEvent, { readonly kind: Kind }>,
  nowMs: number,
) => AutoscaleLife
type Moves = { readonly [Kind in AutoscaleEventKind]: Move<Kind> }

const stay = (life: AutoscaleLife): AutoscaleLife => life
const close = (): AutoscaleLife => ({ phase: AutoscalePhase.Closing, failures: 0 })
const beginAnew = (): AutoscaleLife => newAutoscaleLife({})

const movesOf: Record<AutoscalePhase, Moves> = {
  [AutoscalePhase.Watching]: {
    watched: (life, { outcome }, nowMs) => takeUp(blockOver(life, nowMs), outcome, nowMs),
    aligned: stay,
    closed: stay,
    configured: beginAnew,
    delete: close,
  },
  [AutoscalePhase.Aligning]: {
    watched: stay,
    aligned: settle,
    closed: stay,
    configured: beginAnew,
    delete: close,
  },
  [AutoscalePhase.Closing]: {
    watched: stay,
    aligned: stay,
    closed: (_life, { closed }) => (closed ? { phase: AutoscalePhase.Over, failures: 0 } : beginAnew()),
    configured: beginAnew,
    delete: stay,
  },
  [AutoscalePhase.Over]: {
    watched: stay,
    aligned: stay,
    closed: stay,
    configured: beginAnew,
    // The row may exist again, for example after a backup was restored.
    delete: close,
  },
}

function takeUp(life: AutoscaleLife, outcome: WatchResult, nowMs: number): AutoscaleLife {
  if (outcome.kind === 'closing') return close()
  if (outcome.kind === 'recovered') return newAutoscaleLife(life)
  const aligning = { ...life, phase: AutoscalePhase.Aligning, cause: outcome, target: outcome.target }
  return outcome.kind === 'replace' ? failed(aligning, wordsOf(outcome.failed), nowMs) : aligning
}

function blockOver({ blockedUntilMs, ...life }: AutoscaleLife, nowMs: number): AutoscaleLife {
  return blockedUntilMs === undefined || blockedUntilMs <= nowMs ? life : { ...life, blockedUntilMs }
}

function settle({ cause: _done, ...life }: AutoscaleLife, event: EventOf<'aligned'>, nowMs: number) {
  const { target, refusal, closing } = event.result
  if (closing === true) return close()
  const watching = { ...life, phase: AutoscalePhase.Watching, target }
  const wasBlocked = life.blockedUntilMs !== undefined
  return refusal === undefined || wasBlocked ? watching : failed(watching, refusal, nowMs)
}
type EventOf<Kind extends AutoscaleEventKind> = Extract<AutoscaleLifeEvent, { readonly kind: Kind }>

/**
 * Nothing is tried again before the back-off is over. So a failure within it belongs to the failure before,
 * as when several clones fail one after the other.
 */
function failed(life: AutoscaleLife, trouble: string, nowMs: number): AutoscaleLife {
  const { failedAtMs = -Infinity, blockedUntilMs } = life
  if (blockedUntilMs !== undefined)
    return {
      ...life,
      failedAtMs: nowMs,
      blockedUntilMs: Math.max(blockedUntilMs, nowMs + firstBlockMs),
      trouble,
    }
  const failures = nowMs - failedAtMs > failuresForgottenMs ? 1 : life.failures + 1
  const blockMs = doublingDelayMs(block, failures - 1)
  return { ...life, failures, failedAtMs: nowMs, blockedUntilMs: nowMs + blockMs, trouble }
}

function wordsOf([first, ...others]: readonly FailedMember[]): string {
  if (first === undefined) return 'an instance failed'
  const more = others.length === 0 ? '' : `, and ${others.length} more`
  return `${first.name}: ${first.reason}${more}`
}
