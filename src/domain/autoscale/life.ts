import type { AlignedSize } from './alignment.ts'
import type { AutoscaleOutcome, FailedMember } from './outcome.ts'
import type { AutoscaleSettings } from './settings.ts'
import type { WatchInput, WatchResult } from './watch.ts'

/**
 * The life of an autoscale configuration.
 *
 *      ┌────────┐ ── there is something to do ──► ┌────────┐
 *      │watching│                                 │aligning│
 *      └────────┘ ◄──────────── done ──────────── └────────┘
 *        │    ▲ ▲ ◄─────── configured again ─────────┘  │
 *        │    │ │                                       │
 *        │    │ └── configured again ──┐                │
 *        │    │                        │                │
 *        │    └── configured again ── ┌───────┐         │        all given back, master started, row gone    ┌────┐
 *        └── the configuration is ──► │closing│ ◄───────┘      ────────────────────────────────────────────► │over│
 *            deleted, or gone         └───────┘                                                              └────┘
 *
 * - Aligning makes the number of instances what it should be, whatever it is: it may be repeated at any time.
 * - What failed, or could not be added, is not tried again before a back-off is over, which doubles until an
 *   instance that is younger than the last failure has warmed up. What policies asked for and could not be
 *   had is forgotten: they say it again if it still holds. Otherwise the size that was decided on stays the
 *   target, unless they want fewer meanwhile.
 * - A service that is configured again is a new one: what was decided of the one before counts no more. Also
 *   where that is heard when all is over but not ended.
 * - What comes late, twice or out of order changes nothing.
 */
export interface AutoscaleLife {
  readonly phase: AutoscalePhase
  /** The size that was last decided on; absent before the first. */
  readonly target?: number
  /** What the aligning is for. */
  readonly cause?: AutoscaleOutcome
  /** Since the last success. */
  readonly failures: number
  readonly failedAtMs?: number
  /** Nothing is added before; while aligning absent where that is over. */
  readonly blockedUntilMs?: number
  /** Why the last aligning was not whole, or what failed, for people. */
  readonly trouble?: string
}

export const AutoscalePhase = {
  Watching: 'watching',
  Aligning: 'aligning',
  Closing: 'closing',
  Over: 'over',
} as const
export type AutoscalePhase = (typeof AutoscalePhase)[keyof typeof AutoscalePhase]

/** After the first failure, and doubled with each: 5, 10, 20, 40, 80, 160, 300 s. */
export const firstBlockMs = 5_000
export const longestBlockMs = 300_000
/**
 * A failure so long after the one before is the first of its own: of a row of them, each comes within the
 * block and a warm-up.
 */
export const failuresForgottenMs = 2 * longestBlockMs

export type AutoscaleLifeEvent =
  | { readonly kind: 'watched'; readonly outcome: WatchResult }
  | { readonly kind: 'aligned'; readonly result: AlignedSize }
  /** `closed` is false where the service was configured again meanwhile. */
  | { readonly kind: 'closed'; readonly closed: boolean }
  | { readonly kind: 'configured' }
  | { readonly kind: 'delete' }
export type AutoscaleEventKind = AutoscaleLifeEvent['kind']

export function newAutoscaleLife({ target }: Pick<AutoscaleSettings, 'target'>): AutoscaleLife {
  return { phase: AutoscalePhase.Watching, failures: 0, ...(target !== undefined && { target }) }
}

/** Pure. */
export function decideAutoscale(
  life: AutoscaleLife,
  event: AutoscaleLifeEvent,
  nowMs: number,
): AutoscaleLife {
  return movesOf[life.phase][event.kind](life, event as never, nowMs)
}

/** What has to be done now; never more than one thing. */
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
    // Its row may have come back, as from a backup.
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
 * Within a block nothing was tried again: what fails then belongs to the failure before, as when several
 * clones fail one after the other.
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
  const blockMs = Math.min(longestBlockMs, firstBlockMs * 2 ** (failures - 1))
  return { ...life, failures, failedAtMs: nowMs, blockedUntilMs: nowMs + blockMs, trouble }
}

function wordsOf([first, ...others]: readonly FailedMember[]): string {
  if (first === undefined) return 'an instance failed'
  const more = others.length === 0 ? '' : `, and ${others.length} more`
  return `${first.name}: ${first.reason}${more}`
}
