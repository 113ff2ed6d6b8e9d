import { VolumePhase } from './state.ts'

/**
 * The life of a volume's file system, as its workflow leads it:
 *
 *   ┌─────────────┐        ┌────────────┐        ┌─────┐ ── repair ─────────────────► ┌────┐
 *   │uninitialized│─begin─►│initializing│─made──►│ready│ ◄─ repaired, not begun ───── │busy│
 *   └─────────────┘        └────────────┘        └─────┘                              └────┘
 *                       make-failed │ ▲           ▲   │ damaged                        ▲  │
 *                                   │ │ repair,   │   │                repair, was made│  │ repair-failed,
 *                                   ▼ │ never made│   ▼                                │  ▼ not begun
 *                              ┌──────────────────────────────────────────────────────────┐
 *                              │                          error                           │
 *                              └──────────────────────────────────────────────────────────┘
 *
 *   any ── delete ──► deleting: what is under way is called off ── removed ──► over
 *
 * - What was made once is never formatted again: its repair is a check of what is there, and where nothing is
 *   there it fails.
 * - A start of its instance may make it as well; a volume in `error` that was never made is ready when that
 *   succeeded.
 * - A repair that could not begin, because a VM has the volume, leaves it as it was.
 * - `decideVolume` is total over phases and events; whatever comes late, twice or out of order changes
 *   nothing.
 */
export interface VolumeLife {
  readonly phase: VolumePhase
  /** Its file system stood complete once. */
  readonly made: boolean
  /**
   * Why the phase is `error`, in words for its owner; while `busy`, what is to be repaired, where that is
   * known.
   */
  readonly failure?: string
  readonly deleting: boolean
  /** Its host keeps nothing of it any more. */
  readonly removed?: true
  /** Grows by one with every change that a reader sees. */
  readonly revision: number
}

export const VolumeWork = { Make: 'make', Repair: 'repair', Remove: 'remove' } as const
export type VolumeWork = (typeof VolumeWork)[keyof typeof VolumeWork]

export type VolumeLifeEvent =
  /** The workflow is there to work. */
  | { readonly kind: 'begin' }
  /** It stands complete on its host. */
  | { readonly kind: 'made' }
  | { readonly kind: 'make-failed'; readonly reason: string }
  /** The host found it unusable: the file is gone, or its file system can not be mended without a person. */
  | { readonly kind: 'damaged'; readonly reason: string }
  /** An operator asks for a thorough check and for repair of whatever it finds. */
  | { readonly kind: 'repair' }
  | { readonly kind: 'repaired' }
  | { readonly kind: 'repair-failed'; readonly reason: string }
  /** A VM has it, so nobody looked. */
  | { readonly kind: 'repair-not-begun' }
  | { readonly kind: 'delete' }
  | { readonly kind: 'removed' }
export type VolumeEventKind = VolumeLifeEvent['kind']

export const newVolumeLife: VolumeLife = {
  phase: VolumePhase.Uninitialized,
  made: false,
  deleting: false,
  revision: 0,
}

/** Pure. Repeating an event is harmless. */
export function decideVolume(life: VolumeLife, event: VolumeLifeEvent): VolumeLife {
  const next = moves[life.phase][event.kind](life, event)
  return sameForReaders(life, next) ? next : { ...next, revision: life.revision + 1 }
}

/** The work that the host has to do now; undefined where the volume rests. */
export function volumeWork(life: VolumeLife): VolumeWork | undefined {
  if (life.removed === true) return undefined
  if (life.deleting) return VolumeWork.Remove
  if (life.phase === VolumePhase.Initializing) return VolumeWork.Make
  return life.phase === VolumePhase.Busy ? VolumeWork.Repair : undefined
}

type Move = (life: VolumeLife, event: VolumeLifeEvent) => VolumeLife

const { Initializing, Ready, Busy, Error: Failed } = VolumePhase

const stay: Move = (life) => life
const ready: Move = ({ failure: _mended, ...life }) => ({ ...life, phase: Ready, made: true })
const fail: Move = (life, event) => ({
  ...life,
  phase: Failed,
  failure: 'reason' in event ? event.reason : 'its host gave no reason',
})
const make: Move = ({ failure: _before, ...life }) => ({ ...life, phase: Initializing })
const check: Move = (life) => ({ ...life, phase: Busy })
const back: Move = (life) => ({ ...life, phase: life.failure === undefined ? Ready : Failed })

/** Its owner sees it no more, so nothing new is begun for it. */
const unlessDeleting =
  (move: Move): Move =>
  (life, event) =>
    life.deleting ? life : move(life, event)
const mend = unlessDeleting((life, event) => (life.made ? check : make)(life, event))
const madeByStart: Move = (life, event) => (life.made ? life : ready(life, event))

const moves = {
  uninitialized: row({ begin: unlessDeleting(make) }),
  initializing: row({ made: ready, 'make-failed': fail }),
  ready: row({ damaged: fail, repair: unlessDeleting(check) }),
  busy: row({ repaired: ready, 'repair-failed': fail, 'repair-not-begun': back }),
  error: row({ made: madeByStart, repair: mend }),
} satisfies Record<VolumePhase, Record<VolumeEventKind, Move>>

/** What is not named changes nothing; a deletion is the same in every phase. */
function row(named: Partial<Record<VolumeEventKind, Move>>): Record<VolumeEventKind, Move> {
  return {
    begin: stay,
    made: stay,
    'make-failed': stay,
    damaged: stay,
    repair: stay,
    repaired: stay,
    'repair-failed': stay,
    'repair-not-begun': stay,
    delete: (life) => ({ ...life, deleting: true }),
    removed: (life) => (life.deleting ? { ...life, removed: true } : life),
    ...named,
  }
}

function sameForReaders(one: VolumeLife, other: VolumeLife): boolean {
  return one.phase === other.phase && one.made === other.made && one.failure === other.failure
}
