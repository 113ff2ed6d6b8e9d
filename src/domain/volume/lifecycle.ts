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
 * - A volume that was made once is never formatted again. Its repair checks what is there, and fails if
 *   nothing is.
 * - A start of its instance may make the volume as well. A volume in `error` that was never made is ready
 *   after that.
 * - A repair that could not begin, because a VM has the volume, leaves the volume as it was.
 * - It moves to another host with its instance, whatever it is at. What its old host was asked for is called
 *   off, and asked of the new one.
 * - `decideVolume` is total over phases and events. An event that comes late, twice or out of order changes
 *   nothing.
 */
export interface VolumeLife {
  readonly phase: VolumePhase
  /** Whether its file system was once complete. */
  readonly made: boolean
  /**
   * A text for the owner. In `error` it says why; in `busy` it says what is to be repaired, if that is
   * known.
   */
  readonly failure?: string
  readonly deleting: boolean
  /** Its host, once it has moved. Absent: the one on which it was made. */
  readonly nodeId?: string
  /** Present once the host keeps nothing of the volume any more. */
  readonly removed?: true
  /** Grows by one with every change that readers see. */
  readonly revision: number
}

export const VolumeWork = { Make: 'make', Repair: 'repair', Remove: 'remove' } as const
export type VolumeWork = (typeof VolumeWork)[keyof typeof VolumeWork]

export type VolumeLifeEvent =
  /** The workflow has started. */
  | { readonly kind: 'begin' }
  /** The volume is complete on its host. */
  | { readonly kind: 'made' }
  | { readonly kind: 'make-failed'; readonly reason: string }
  /**
   * The host found the volume unusable: its file is missing, or its file system needs a person to be
   * repaired.
   */
  | { readonly kind: 'damaged'; readonly reason: string }
  /** An operator asks for a thorough check, and for the repair of what it finds. */
  | { readonly kind: 'repair' }
  | { readonly kind: 'repaired' }
  | { readonly kind: 'repair-failed'; readonly reason: string }
  /** A VM has the volume, so nobody checked it. */
  | { readonly kind: 'repair-not-begun' }
  /** The row names another host: it moved there with its instance. */
  | { readonly kind: 'moved'; readonly nodeId: string }
  | { readonly kind: 'delete' }
  | { readonly kind: 'removed' }
export type VolumeEventKind = VolumeLifeEvent['kind']

export const newVolumeLife: VolumeLife = {
  phase: VolumePhase.Uninitialized,
  made: false,
  deleting: false,
  revision: 0,
}

/** Returns the life after an event. Pure. Repeating an event is harmless. */
export function decideVolume(life: VolumeLife, event: VolumeLifeEvent): VolumeLife {
  const next = moves[life.phase][event.kind](life, event)
  return sameForReaders(life, next) ? next : { ...next, revision: life.revision + 1 }
}

/** The work that the host has to do now; undefined if there is none. */
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

/** A deleted volume is hidden from its owner, so nothing new is begun for it. */
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

/**
 * The moves of one phase. An event that is not named changes nothing; a move and a deletion are the same in
 * every phase.
 */
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
    moved: (life, event) => (event.kind === 'moved' ? { ...life, nodeId: event.nodeId } : life),
    delete: (life) => ({ ...life, deleting: true }),
    removed: (life) => (life.deleting ? { ...life, removed: true } : life),
    ...named,
  }
}

function sameForReaders(one: VolumeLife, other: VolumeLife): boolean {
  return one.phase === other.phase && one.made === other.made && one.failure === other.failure
}
