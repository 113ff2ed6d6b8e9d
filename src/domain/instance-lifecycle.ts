import { effectsOf } from './lifecycle-effects.ts'
import type { Effects } from './lifecycle-effects.ts'
import { continuedLifecycle } from './lifecycle-continuation.ts'
import type { RecordedLife } from './lifecycle-continuation.ts'
import * as move from './lifecycle-moves.ts'
import { projectionOf } from './lifecycle-projection.ts'
import { Deletion, EventKind, Phase, phaseOf, unstarted } from './lifecycle-state.ts'
import type { EventOf, Lifecycle, LifecycleEvent, LifecycleRules } from './lifecycle-state.ts'
import { StopOrigin } from './stop-reason.ts'
import type { AskedStop } from './stop-reason.ts'

/**
 * The lifecycle of an instance.
 *
 *                 start · restart due · creation with autostart
 *      ┌───────┐ ─────────────────────────────────────────────► ┌────────┐ ──┐ start failed, tried
 *      │stopped│                                                │starting│ ◄─┘ again with a new boot
 *      └───────┘ ◄── ended, start failed for good ───────────── └────────┘
 *        ▲   ▲                                       started │     ▲  │ stop
 *        │   └── ended by itself (then: policy) ──┐          ▼     │  │
 *        │                                      ┌───────┐ ─────────┘  │   host halted under it: started
 *        │                        ┌── stop ──── │running│             │   again by the platform
 *        │                        │   drain > 0 └───────┘             │
 *        │                        ▼               ▲   │ stop          │
 *        │                   ┌────────┐ ── start ─┘   │               │
 *        │                   │draining│               │               │
 *        │                   └────────┘               ▼               │
 *        │                        └─ timeout,   ┌────────┐ ◄──────────┘
 *        └──── ended ────────────── closed ───► │stopping│ ── ended, and a start came meanwhile ──► starting
 *                                               └────────┘
 *      any ── delete ──► deleting ── host is clean ──► deleted
 *      stopped and to stay so ── delete-on-stop ──► deleting
 *
 * - A start while stopping is remembered, and a stop after it forgets it: the user's last word counts. A start while
 *   draining takes the stop back, as nothing was shut down. A stop while starting shuts that boot down.
 * - A forced stop overtakes a graceful one; a graceful one never softens a forced one. Of two drains the earlier end counts.
 * - A restart is first the policy's: delete-on-stop deletes what is stopped and will not restart. A stop by hand during
 *   the wait for a restart therefore deletes.
 * - `standby` is a word of the API that nothing here leads to yet; commands treat it as a stopped instance.
 * - Draining without anything that can be connected is over as soon as `connections-closed` is said.
 */
export type Decision =
  | { readonly accepted: true; readonly life: Lifecycle; readonly effects: Effects }
  | { readonly accepted: false; readonly refusal: Refusal }

export const Refusal = {
  /** The instance is being deleted or is deleted. */
  Deleted: 'deleted',
} as const
export type Refusal = (typeof Refusal)[keyof typeof Refusal]

/** Pure. Repeating an event is harmless, and so is one that comes too late: it leaves the state as it is. */
export function decide(life: Lifecycle, event: LifecycleEvent, nowMs: number): Decision {
  const next = ruleFor(phaseOf(life), event.kind)(life, event, nowMs)
  if (typeof next === 'string') return { accepted: false, refusal: next }
  const revised = sameForReaders(life, next) ? next : { ...next, revision: life.revision + 1 }
  return { accepted: true, life: revised, effects: effectsOf(revised) }
}

/**
 * An instance at the beginning of its workflow; with autostart it is starting at once, and its row said so from the
 * insert. A row that an earlier workflow wrote is continued.
 */
export function newLifecycle(rules: LifecycleRules, recorded?: RecordedLife): Lifecycle {
  if (recorded !== undefined && recorded.revision > 0) return continuedLifecycle(rules, recorded)
  const life = unstarted(rules)
  return rules.autostart ? move.beginByHand(life) : life
}

type Rule<K extends EventKind> = (life: Lifecycle, event: EventOf<K>, nowMs: number) => Lifecycle | Refusal
type Row = { readonly [K in EventKind]: Rule<K> }

function ruleFor(phase: Phase, kind: EventKind): Rule<EventKind> {
  return table[phase][kind] as Rule<EventKind>
}

const ignore = (life: Lifecycle): Lifecycle => life
const refuse = (): Refusal => Refusal.Deleted

const byUser = (event: EventOf<typeof EventKind.Stop>): AskedStop => ({
  origin: StopOrigin.User,
  forced: event.force,
})

function stopRunning(life: Lifecycle, event: EventOf<typeof EventKind.Stop>, nowMs: number): Lifecycle {
  if (event.force || event.drainTimeoutMs <= 0) return move.shutDown(life, byUser(event), nowMs)
  return move.drain(life, byUser(event), nowMs + event.drainTimeoutMs)
}

function stopDraining(life: Lifecycle, event: EventOf<typeof EventKind.Stop>, nowMs: number): Lifecycle {
  if (event.force || event.drainTimeoutMs <= 0) return move.shutDown(life, byUser(event), nowMs)
  const drainUntilMs = Math.min(life.drainUntilMs ?? Infinity, nowMs + event.drainTimeoutMs)
  return { ...life, drainUntilMs }
}

function stopStopping(life: Lifecycle, event: EventOf<typeof EventKind.Stop>, nowMs: number): Lifecycle {
  if (event.force && life.asked?.forced !== true) return move.shutDown(life, byUser(event), nowMs)
  return { ...life, startAgain: undefined }
}

function drained(life: Lifecycle, _event: LifecycleEvent, nowMs: number): Lifecycle {
  return life.asked === undefined ? life : move.shutDown(life, life.asked, nowMs)
}

/** What is down keeps the times of a start whose report came late, and hears no more of its host. */
const down = {
  [EventKind.Start]: move.beginByHand,
  [EventKind.Delete]: move.startDeletion,
  [EventKind.Started]: move.noteReport,
  [EventKind.StartFailed]: ignore,
  [EventKind.Exited]: ignore,
  [EventKind.Absent]: ignore,
  [EventKind.Removed]: ignore,
  [EventKind.ConnectionsClosed]: ignore,
} as const

const gone = {
  [EventKind.Start]: refuse,
  [EventKind.Stop]: refuse,
  [EventKind.Delete]: ignore,
  [EventKind.Started]: ignore,
  [EventKind.StartFailed]: ignore,
  [EventKind.Exited]: ignore,
  [EventKind.Absent]: ignore,
  [EventKind.ConnectionsClosed]: ignore,
  [EventKind.Tick]: ignore,
} as const

const table = {
  [Phase.Stopped]: {
    ...down,
    [EventKind.Stop]: move.endSequence,
    [EventKind.Tick]: (life, _event, nowMs) => move.restartIfDue(life, nowMs),
  },
  [Phase.Standby]: {
    ...down,
    [EventKind.Stop]: move.leaveStandby,
    [EventKind.Tick]: ignore,
  },
  [Phase.Starting]: {
    [EventKind.Start]: (life) => ({ ...life, restartAttempt: 0 }),
    [EventKind.Stop]: (life, event, nowMs) => move.shutDown(life, byUser(event), nowMs),
    [EventKind.Delete]: move.startDeletion,
    [EventKind.Started]: move.started,
    [EventKind.StartFailed]: move.startFailed,
    [EventKind.Exited]: (life, { exit }, nowMs) => move.endedByItself(life, exit, nowMs),
    [EventKind.Absent]: ignore,
    [EventKind.Removed]: ignore,
    [EventKind.ConnectionsClosed]: ignore,
    [EventKind.Tick]: (life, _event, nowMs) => move.retryIfDue(life, nowMs),
  },
  [Phase.Running]: {
    [EventKind.Start]: ignore,
    [EventKind.Stop]: stopRunning,
    [EventKind.Delete]: move.startDeletion,
    [EventKind.Started]: move.noteReport,
    [EventKind.StartFailed]: ignore,
    [EventKind.Exited]: (life, { exit }, nowMs) => move.endedByItself(life, exit, nowMs),
    [EventKind.Absent]: ignore,
    [EventKind.Removed]: ignore,
    [EventKind.ConnectionsClosed]: ignore,
    [EventKind.Tick]: (life, _event, nowMs) => move.endSequenceIfDue(life, nowMs),
  },
  [Phase.Draining]: {
    [EventKind.Start]: move.undrain,
    [EventKind.Stop]: stopDraining,
    [EventKind.Delete]: move.startDeletion,
    [EventKind.Started]: move.noteReport,
    [EventKind.StartFailed]: ignore,
    [EventKind.Exited]: (life, { exit }, nowMs) => move.endedAsAsked(life, exit, nowMs),
    [EventKind.Absent]: ignore,
    [EventKind.Removed]: ignore,
    [EventKind.ConnectionsClosed]: drained,
    [EventKind.Tick]: (life, event, nowMs) =>
      (life.drainUntilMs ?? 0) <= nowMs ? drained(life, event, nowMs) : life,
  },
  [Phase.Stopping]: {
    [EventKind.Start]: (life) => ({ ...life, startAgain: true }),
    [EventKind.Stop]: stopStopping,
    [EventKind.Delete]: move.startDeletion,
    [EventKind.Started]: move.noteReport,
    [EventKind.StartFailed]: ignore,
    [EventKind.Exited]: (life, { exit }, nowMs) => move.endedAsAsked(life, exit, nowMs),
    [EventKind.Absent]: (life, { boot }, nowMs) =>
      boot === life.boot ? move.endedAsAsked(life, undefined, nowMs) : life,
    [EventKind.Removed]: ignore,
    [EventKind.ConnectionsClosed]: ignore,
    [EventKind.Tick]: ignore,
  },
  [Phase.Deleting]: {
    ...gone,
    [EventKind.Removed]: (life) => ({ ...life, deletion: Deletion.Done }),
  },
  [Phase.Deleted]: { ...gone, [EventKind.Removed]: ignore },
} satisfies Record<Phase, Row>

function sameForReaders(one: Lifecycle, other: Lifecycle): boolean {
  return one === other || JSON.stringify(projectionOf(one)) === JSON.stringify(projectionOf(other))
}
