import { effectsOf } from './lifecycle-effects.ts'
import type { Effects } from './lifecycle-effects.ts'
import { continuedLifecycle } from './lifecycle-continuation.ts'
import type { RecordedLife } from './lifecycle-continuation.ts'
import * as change from './lifecycle-change.ts'
import * as loss from './lifecycle-loss.ts'
import * as moving from './lifecycle-move.ts'
import * as move from './lifecycle-moves.ts'
import * as standby from './lifecycle-standby.ts'
import { suspend, unsuspend } from './lifecycle-suspend.ts'
import { projectionOf } from './lifecycle-projection.ts'
import { unstarted } from './lifecycle-rules.ts'
import type { LifecycleRules } from './lifecycle-rules.ts'
import { Deletion, EventKind, Phase, phaseOf } from './lifecycle-state.ts'
import type { EventOf, Lifecycle, LifecycleEvent } from './lifecycle-state.ts'
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
 *
 *                   idle for the cooldown, and the host did it
 *      ┌───────┐ ── or a user's suspend ──────────────────► ┌───────┐ ── stop ──► stopping: the host's permit is revoked
 *      │running│                                             │standby│
 *      └───────┘ ◄── started ── starting ◄── waking, start ─ └───────┘ ◄── the wake failed; creation without autostart
 *
 *      any ── delete ──► deleting ── host is clean ──► deleted
 *      stopped and to stay so ── delete-on-stop ──► deleting
 *      any but a deletion ── stop that retires it ──► as by a stop, to stopped ──► deleting
 *
 * - A start while stopping is remembered until a later stop: the user's last command counts. A start while
 *   draining takes the stop back, because nothing has been shut down yet. A stop while starting shuts that
 *   boot down. This also holds between two tries of the start, because the VM of a try that was cut off may
 *   still come up. For the same reason the host has to stop the last boot of a start that was given up,
 *   although the instance is already stopped.
 * - A forced stop replaces a graceful one; a graceful stop never softens a forced one. Of two drains the
 *   earlier end counts.
 * - The restart policy decides first: delete-on-stop deletes an instance that is stopped and will not
 *   restart. So a stop by hand during the wait for a restart deletes the instance.
 * - A stop may retire the instance. Then it is deleted when it has stopped, or at once if it is already
 *   stopped. That is never taken back: from then on a start is refused, and other stops only bring the end
 *   nearer.
 * - While the host carries out an order to stand by, the state is still `running`. Standby is not a stop:
 *   restart policy and delete-on-stop do not apply to it. `lifecycle-standby.ts` says more about standby, and
 *   about the orders in which events may come. `lifecycle-suspend.ts` is about standby at a user's word.
 * - A host that was set up again reports what it has lost. A boot that ran there has ended. An instance that
 *   slept there gets its permit there again, so that it can be woken. In any other state this event changes
 *   nothing, because the workflow asks the host for the work that is under way anyway.
 * - A lost host ends the boot, too. The instance then gets another host, unless its volume is on the lost
 *   one. `lifecycle-loss.ts` says more.
 * - An instance moves to another host while it sleeps or is stopped. One that runs sleeps for it, and counts
 *   as starting until the move is over. `lifecycle-move.ts` says more.
 * - A change of the configuration can ask for a restart: the boot is drained and stopped as by a stop, and
 *   starts again. `lifecycle-change.ts` says more.
 * - Draining ends with `connections-closed`, or when its time is over. A draining instance never goes to
 *   standby.
 */
export type Decision =
  | { readonly accepted: true; readonly life: Lifecycle; readonly effects: Effects }
  | { readonly accepted: false; readonly refusal: Refusal }

export const Refusal = {
  /**
   * The instance is being deleted, is deleted, or is retired and will be deleted as soon as it has stopped.
   */
  Deleted: 'deleted',
} as const
export type Refusal = (typeof Refusal)[keyof typeof Refusal]

/** A pure function. A repeated event does no harm. An event that comes too late leaves the state as it is. */
export function decide(life: Lifecycle, event: LifecycleEvent, nowMs: number): Decision {
  if (moving.isOutdated(life, event)) return { accepted: true, life, effects: effectsOf(life) }
  const asker = isByHand(event) ? event.asker : undefined
  const asked = asker === undefined ? life : { ...life, asker }
  const ruled = ruleFor(phaseOf(life), event.kind)(asked, event, nowMs)
  if (typeof ruled === 'string') return { accepted: false, refusal: ruled }
  // Nobody is the asker of what goes on anyway.
  const isIgnored = event.kind === EventKind.Suspend && ruled === asked
  const renewed = change.renewIfDue(isIgnored ? life : ruled, nowMs)
  const next = moving.moveOn(renewed, event, nowMs)
  const revised = sameForReaders(life, next) ? next : { ...next, revision: life.revision + 1 }
  return { accepted: true, life: revised, effects: effectsOf(revised) }
}

/**
 * The life of an instance at the beginning of its workflow. With autostart it is starting at once, and its
 * row said so from the insert. If an earlier workflow wrote the row, that life is continued.
 */
export function newLifecycle(rules: LifecycleRules, recorded?: RecordedLife): Lifecycle {
  if (recorded !== undefined && recorded.revision > 0) return continuedLifecycle(rules, recorded)
  const life = unstarted(rules)
  if (rules.autostart) return move.beginByHand(life)
  return life.scaleToZero === undefined ? life : standby.inStandby(life, { boot: 0 })
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

/** The same stop; with `thenDelete` it also retires the instance. */
function retiring(stop: Rule<typeof EventKind.Stop>): Rule<typeof EventKind.Stop> {
  return (life, event, nowMs) =>
    stop(event.thenDelete === true ? { ...life, retired: true } : life, event, nowMs)
}

/** A retired instance accepts no start. */
function unlessRetired(start: (life: Lifecycle) => Lifecycle): Rule<typeof EventKind.Start> {
  return (life) => (life.retired === true ? Refusal.Deleted : start(life))
}

const shutDownAtOnce: Rule<typeof EventKind.Stop> = (life, event, nowMs) => {
  const stopping = move.shutDown(life, byUser(event), nowMs)
  // While another host is looked for, nothing runs anywhere.
  return life.placing === true ? move.endedAsAsked(stopping, undefined, nowMs) : stopping
}

function stopRunning(life: Lifecycle, event: EventOf<typeof EventKind.Stop>, nowMs: number): Lifecycle {
  // An instance that is being sent to standby has no connections to wait for.
  const atOnce = event.force || event.drainTimeoutMs <= 0 || life.order !== undefined
  if (atOnce) return move.shutDown(life, byUser(event), nowMs)
  return move.drain(life, byUser(event), nowMs + event.drainTimeoutMs)
}

function stopDraining(life: Lifecycle, event: EventOf<typeof EventKind.Stop>, nowMs: number): Lifecycle {
  if (event.force || event.drainTimeoutMs <= 0) return move.shutDown(life, byUser(event), nowMs)
  const drainUntilMs = Math.min(life.drainUntilMs ?? Infinity, nowMs + event.drainTimeoutMs)
  return { ...life, drainUntilMs, startAgain: undefined }
}

function stopStopping(life: Lifecycle, event: EventOf<typeof EventKind.Stop>, nowMs: number): Lifecycle {
  if (event.force && life.asked?.forced !== true) return move.shutDown(life, byUser(event), nowMs)
  return { ...life, startAgain: undefined }
}

function drained(life: Lifecycle, _event: LifecycleEvent, nowMs: number): Lifecycle {
  const { asked, startAgain } = life
  return asked === undefined ? life : { ...move.shutDown(life, asked, nowMs), startAgain }
}

const suspendIfUp: Rule<typeof EventKind.Suspend> = (life, event, nowMs) =>
  standby.standByIfDue(suspend(life, event, nowMs), nowMs)

/**
 * What is taken over in any state: a change of the configuration, and another host, with the steps to it.
 * `renewIfDue` replaces a boot that runs.
 */
const inAnyState = {
  [EventKind.Change]: change.noteChange,
  [EventKind.ChangeTaken]: change.changeTaken,
  [EventKind.Placed]: loss.placed,
  [EventKind.Move]: (life, event, nowMs) =>
    life.retired === true ? Refusal.Deleted : moving.wantMove(life, event, nowMs),
  [EventKind.Copied]: moving.copied,
  [EventKind.Held]: moving.held,
  [EventKind.Fetched]: moving.fetched,
  [EventKind.Moved]: moving.moved,
  [EventKind.Taken]: moving.taken,
  [EventKind.Released]: moving.released,
  [EventKind.MoveFailed]: moving.moveFailed,
} satisfies Partial<Row>

/**
 * The moves of an instance that is down: stopped or in standby. The life notes the times of a start whose
 * report came late. It also follows the boot that the host began by a permit: an instance in standby has a
 * permit, and a stopped instance may have one if the workflow that gave it was lost.
 */
const down = {
  [EventKind.Start]: move.beginByHand,
  [EventKind.Suspend]: ignore,
  [EventKind.Delete]: move.startDeletion,
  [EventKind.Started]: standby.startedByPermit,
  [EventKind.StartFailed]: ignore,
  [EventKind.Exited]: (life, { exit }, nowMs) => standby.exitedByPermit(life, exit, nowMs),
  [EventKind.Waking]: standby.waking,
  [EventKind.WakeFailed]: standby.wakeFailed,
  [EventKind.Idle]: standby.idleByPermit,
  [EventKind.Disabled]: standby.noteDisabled,
  [EventKind.Absent]: ignore,
  [EventKind.Removed]: ignore,
  [EventKind.ConnectionsClosed]: ignore,
  ...inAnyState,
} satisfies Partial<Row>

const gone = {
  [EventKind.Start]: refuse,
  [EventKind.Stop]: refuse,
  [EventKind.Suspend]: refuse,
  [EventKind.Delete]: ignore,
  [EventKind.Started]: ignore,
  [EventKind.StartFailed]: ignore,
  [EventKind.Exited]: ignore,
  [EventKind.Absent]: ignore,
  [EventKind.ConnectionsClosed]: ignore,
  [EventKind.Idle]: ignore,
  [EventKind.Waking]: ignore,
  [EventKind.WakeFailed]: ignore,
  [EventKind.Disabled]: ignore,
  [EventKind.Slept]: ignore,
  [EventKind.StandByRefused]: ignore,
  [EventKind.Lost]: ignore,
  [EventKind.Change]: refuse,
  [EventKind.ChangeTaken]: ignore,
  [EventKind.HostLost]: ignore,
  [EventKind.Placed]: ignore,
  [EventKind.Move]: refuse,
  [EventKind.Copied]: ignore,
  [EventKind.Held]: ignore,
  [EventKind.Fetched]: ignore,
  [EventKind.Moved]: ignore,
  [EventKind.Taken]: ignore,
  [EventKind.Released]: ignore,
  [EventKind.MoveFailed]: ignore,
  [EventKind.Tick]: ignore,
} as const

const table = {
  [Phase.Stopped]: {
    ...down,
    [EventKind.Stop]: (life, { thenDelete }) =>
      thenDelete === true ? move.retireStopped(life) : move.endSequence(life),
    [EventKind.Exited]: (life, { exit }, nowMs) =>
      standby.exitedByPermit(move.givenUpOver(life, exit.boot), exit, nowMs),
    [EventKind.Absent]: (life, { boot }) => move.givenUpOver(life, boot),
    [EventKind.Slept]: standby.sleptBefore,
    [EventKind.StandByRefused]: (life, { boot }) => standby.permitRefused(life, boot),
    [EventKind.Lost]: ignore,
    [EventKind.HostLost]: loss.lostStopped,
    [EventKind.Tick]: (life, _event, nowMs) => move.restartIfDue(life, nowMs),
  },
  [Phase.Standby]: {
    ...down,
    [EventKind.Stop]: retiring(shutDownAtOnce),
    [EventKind.Slept]: standby.sleptOn,
    [EventKind.StandByRefused]: standby.sleepRefused,
    [EventKind.Lost]: standby.lostAsleep,
    [EventKind.HostLost]: loss.lostInStandby,
    [EventKind.Tick]: (life, _event, nowMs) => standby.orderAgainIfDue(life, nowMs),
  },
  [Phase.Starting]: {
    ...inAnyState,
    [EventKind.Start]: standby.startWaking,
    [EventKind.Stop]: retiring(shutDownAtOnce),
    [EventKind.Suspend]: suspendIfUp,
    [EventKind.Delete]: move.startDeletion,
    [EventKind.Started]: standby.startedStarting,
    [EventKind.StartFailed]: move.startFailed,
    [EventKind.Exited]: (life, { exit }, nowMs) => standby.ended(life, exit, nowMs),
    [EventKind.Absent]: ignore,
    [EventKind.Removed]: ignore,
    [EventKind.ConnectionsClosed]: ignore,
    [EventKind.Idle]: standby.idleByPermit,
    [EventKind.Waking]: standby.waking,
    [EventKind.WakeFailed]: standby.wakeFailedStarting,
    [EventKind.Disabled]: standby.noteDisabled,
    [EventKind.Slept]: standby.slept,
    [EventKind.StandByRefused]: (life, { boot }) => standby.permitRefused(life, boot),
    [EventKind.Lost]: ignore,
    [EventKind.HostLost]: loss.lostWhileStarting,
    [EventKind.Tick]: (life, _event, nowMs) => move.retryIfDue(standby.askIfSilent(life, nowMs), nowMs),
  },
  [Phase.Running]: {
    ...inAnyState,
    [EventKind.Start]: unsuspend,
    [EventKind.Stop]: retiring(stopRunning),
    [EventKind.Suspend]: suspendIfUp,
    [EventKind.Delete]: move.startDeletion,
    [EventKind.Started]: standby.startedRunning,
    [EventKind.StartFailed]: (life, { boot }) => (boot === life.boot ? standby.reopened(life) : life),
    [EventKind.Exited]: (life, { exit }, nowMs) => standby.ended(life, exit, nowMs),
    [EventKind.Absent]: ignore,
    [EventKind.Removed]: ignore,
    [EventKind.ConnectionsClosed]: ignore,
    [EventKind.Idle]: standby.idleRunning,
    [EventKind.Waking]: standby.waking,
    [EventKind.WakeFailed]: standby.wakeFailed,
    [EventKind.Disabled]: (life, event, nowMs) =>
      standby.standByIfDue(standby.noteDisabled(life, event), nowMs),
    [EventKind.Slept]: standby.slept,
    [EventKind.StandByRefused]: standby.standByRefused,
    [EventKind.Lost]: standby.lostRunning,
    [EventKind.HostLost]: loss.lostWhileRunning,
    [EventKind.Tick]: (life, _event, nowMs) => standby.runOn(life, nowMs),
  },
  [Phase.Draining]: {
    ...inAnyState,
    // A drain for a restart goes on, because the instance starts again anyway.
    [EventKind.Start]: unlessRetired((life) => (life.startAgain === true ? life : move.undrain(life))),
    [EventKind.Stop]: retiring(stopDraining),
    [EventKind.Suspend]: ignore,
    [EventKind.Delete]: move.startDeletion,
    [EventKind.Started]: (life, event, nowMs) =>
      standby.wokenDraining(move.noteReport(life, event), event.report.boot, nowMs),
    [EventKind.StartFailed]: ignore,
    [EventKind.Exited]: (life, { exit }, nowMs) =>
      move.endedAsAsked(standby.wokenDraining(life, exit.boot, nowMs), exit, nowMs),
    [EventKind.Absent]: ignore,
    [EventKind.Removed]: ignore,
    [EventKind.ConnectionsClosed]: drained,
    [EventKind.Idle]: ignore,
    [EventKind.Waking]: (life, { boot }, nowMs) => standby.wokenDraining(life, boot, nowMs),
    [EventKind.WakeFailed]: ignore,
    [EventKind.Disabled]: standby.noteDisabled,
    [EventKind.Slept]: standby.sleptBefore,
    [EventKind.StandByRefused]: (life, { boot }) => standby.permitRefused(life, boot),
    [EventKind.Lost]: ignore,
    [EventKind.HostLost]: loss.lostWhileEnding,
    [EventKind.Tick]: (life, event, nowMs) =>
      (life.drainUntilMs ?? 0) <= nowMs ? drained(life, event, nowMs) : life,
  },
  [Phase.Stopping]: {
    ...inAnyState,
    [EventKind.Start]: unlessRetired((life) => ({ ...life, startAgain: true })),
    [EventKind.Stop]: retiring(stopStopping),
    [EventKind.Suspend]: ignore,
    [EventKind.Delete]: move.startDeletion,
    [EventKind.Started]: move.noteReport,
    [EventKind.StartFailed]: ignore,
    [EventKind.Exited]: (life, { exit }, nowMs) => move.endedAsAsked(life, exit, nowMs),
    [EventKind.Absent]: (life, { boot }, nowMs) =>
      boot === life.boot ? move.endedAsAsked(life, undefined, nowMs) : life,
    [EventKind.Removed]: ignore,
    [EventKind.ConnectionsClosed]: ignore,
    [EventKind.Idle]: ignore,
    [EventKind.Waking]: ignore,
    [EventKind.WakeFailed]: ignore,
    [EventKind.Disabled]: ignore,
    [EventKind.Slept]: standby.sleptStopping,
    [EventKind.StandByRefused]: ignore,
    [EventKind.Lost]: ignore,
    [EventKind.HostLost]: loss.lostWhileEnding,
    [EventKind.Tick]: ignore,
  },
  [Phase.Deleting]: {
    ...gone,
    [EventKind.Removed]: (life) => ({ ...life, deletion: Deletion.Done }),
    [EventKind.HostLost]: loss.lostWhileDeleted,
    // The host that the row names is the one that has to remove it.
    [EventKind.Moved]: moving.moved,
    [EventKind.MoveFailed]: moving.moveFailed,
  },
  [Phase.Deleted]: { ...gone, [EventKind.Removed]: ignore },
} satisfies Record<Phase, Row>

const byHand: ReadonlySet<EventKind> = new Set([
  EventKind.Start,
  EventKind.Stop,
  EventKind.Suspend,
  EventKind.Change,
])

function isByHand(event: LifecycleEvent): event is EventOf<'start' | 'stop' | 'suspend' | 'change'> {
  return byHand.has(event.kind)
}

function sameForReaders(one: Lifecycle, other: Lifecycle): boolean {
  return one === other || shownOf(one) === shownOf(other)
}

function shownOf(life: Lifecycle): string {
  return JSON.stringify(projectionOf(life))
}
