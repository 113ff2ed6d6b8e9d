import { ExitCause } from './exit-report.ts'
import type { ExitReport } from './exit-report.ts'
import { StandByRefusal } from './host-work.ts'
import { InstanceState } from './state.ts'
import * as move from './lifecycle-moves.ts'
import { StartOrigin } from './lifecycle-state.ts'
import type { EventKind, EventOf, Lifecycle, Sleep } from './lifecycle-state.ts'
import { StopOrigin, stopOutcome } from './stop-reason.ts'

/**
 * Standby, as the lifecycle sees it. The host tells of idle periods; when one has lasted for the cooldown the
 * host is ordered to stand by, which leaves it a permit for the boot that follows. What it does with that it
 * tells afterwards, and its word may come in any order: `waking` or `started` of the permit's boot before the
 * answer to the order, `exited` before both.
 *
 * - `permit` is set from the order until that boot came up, ended or was stopped. While it is there a stop is
 *   one of the permit's boot, so that the host can not start it behind the back of a stopped instance.
 * - `sleep` is set from the answer until then; a wake that fails leads back to it, with the boot that slept.
 */

/** A wake of which nothing is heard for so long is asked for like any start, and joins what is under way. */
export const wakePatienceMs = 30_000
/** An order that a host can not carry out now, for an instance that never ran, is repeated after this. */
export const orderRetryMs = 5_000
/** A snapshot that failed is not tried again before this: each attempt holds traffic up. */
export const snapshotRetryMs = 60_000
/** The guest was willing, and its host could not keep its memory. */
const noSnapshot: ReadonlySet<StandByRefusal> = new Set([
  StandByRefusal.SnapshotFailed,
  StandByRefusal.NoRoom,
])
/** What is read of one whose memory was lost with its host. */
export const lostMemory =
  'its host lost the memory that it had kept: the next wake starts the application anew'
/** Above every boot that a workflow which was lost may have asked for since its row was written. */
export const bootsLeftOut = 1_000

/** When the host is to be ordered to stand by; absent where something speaks against it. */
export function standbyDueAtMs(life: Lifecycle): number | undefined {
  const { idle, scaleToZero, awakeUntilMs = 0 } = life
  if (life.state !== InstanceState.Running || life.order !== undefined || scaleToZero === undefined)
    return undefined
  if (idle?.boot !== life.boot || life.disabledBoot === life.boot) return undefined
  return Math.max(idle.sinceMs + scaleToZero.cooldownMs, awakeUntilMs)
}

export function standByIfDue(life: Lifecycle, nowMs: number): Lifecycle {
  const dueAtMs = standbyDueAtMs(life)
  if (dueAtMs === undefined || dueAtMs > nowMs || life.idle === undefined) return life
  return { ...life, ...orderOf(life, life.idle.epoch), awakeUntilMs: undefined }
}

function orderOf({ boot }: Lifecycle, epoch: number): Pick<Lifecycle, 'order' | 'permit'> {
  return { order: { boot, epoch, permit: boot + 1 }, permit: boot + 1 }
}

/** A boot that sleeps, or 0 for an instance that never ran; the host is still to confirm it. */
export function inStandby(life: Lifecycle, sleep: Sleep): Lifecycle {
  return { ...life, ...orderOf(life, 0), state: InstanceState.Standby, sleep }
}

export function noteIdle(
  life: Lifecycle,
  { boot, epoch, sinceMs }: EventOf<typeof EventKind.Idle>,
): Lifecycle {
  if (life.scaleToZero === undefined || boot < life.boot) return life
  // Nothing speaks against standby while it is idle: an older word, or one that was overtaken, counts no
  // more.
  const disabledBoot = life.disabledBoot === boot ? undefined : life.disabledBoot
  return { ...life, idle: { boot, epoch, sinceMs }, disabledBoot }
}

/** An idle period of the permit's boot: it has been woken, and word of that was lost. */
export function idleByPermit(
  life: Lifecycle,
  event: EventOf<typeof EventKind.Idle>,
  nowMs: number,
): Lifecycle {
  const noted = noteIdle(life, event)
  return isWake(life, event.boot) ? { ...woken(noted, event.boot, nowMs), wakingSinceMs: undefined } : noted
}

export function noteDisabled(life: Lifecycle, event: EventOf<typeof EventKind.Disabled>): Lifecycle {
  if (event.boot < life.boot || (!event.disabled && life.disabledBoot !== event.boot)) return life
  return { ...life, disabledBoot: event.disabled ? event.boot : undefined }
}

/** Of the boot that the host may start by itself, and that is not the present one. */
function isWake(life: Lifecycle, boot: number): boolean {
  return boot === life.permit && boot !== life.boot
}

function woken(life: Lifecycle, boot: number, atMs: number): Lifecycle {
  const { boot: slept } = life
  const sleep = life.sleep ?? { boot: slept, sinceMs: atMs, outcome: platformStop(undefined) }
  return {
    ...move.leaveRunOpen(life, atMs),
    ...move.nothingUnderWay,
    state: InstanceState.Starting,
    startOrigin: StartOrigin.Traffic,
    boot,
    startTries: 1,
    startCount: life.startCount + 1,
    stoppedAtMs: undefined,
    outcome: undefined,
    ...move.noFailure,
    sleep,
    wakingSinceMs: atMs,
  }
}

export function waking(life: Lifecycle, { boot, atMs }: EventOf<typeof EventKind.Waking>): Lifecycle {
  return isWake(life, boot) ? woken(life, boot, atMs) : life
}

export function startedByPermit(life: Lifecycle, event: EventOf<typeof EventKind.Started>): Lifecycle {
  const { boot, startedAtMs } = event.report
  return isWake(life, boot)
    ? move.started(woken(life, boot, startedAtMs), event)
    : move.noteReport(life, event)
}

/** Also what the host answers when it has let traffic in again. */
export function startedRunning(life: Lifecycle, event: EventOf<typeof EventKind.Started>): Lifecycle {
  return startedByPermit(event.report.boot === life.boot ? reopened(life) : life, event)
}

export function reopened(life: Lifecycle): Lifecycle {
  return life.reopen === undefined ? life : { ...life, reopen: undefined }
}

export function startedStarting(life: Lifecycle, event: EventOf<typeof EventKind.Started>): Lifecycle {
  const up = isWake(life, event.report.boot) ? startedByPermit(life, event) : move.started(life, event)
  // Its idle period may have been told before its start.
  return standByIfDue(up, event.report.startedAtMs)
}

export function exitedByPermit(life: Lifecycle, exit: ExitReport, nowMs: number): Lifecycle {
  if (!isWake(life, exit.boot)) return move.endRun(life, exit.boot, exit.atMs)
  return move.endedByItself(woken(life, exit.boot, exit.atMs), exit, nowMs)
}

/** It sleeps on. */
export function wakeFailed(life: Lifecycle, event: EventOf<typeof EventKind.WakeFailed>): Lifecycle {
  return isWake(life, event.boot) ? { ...life, ...move.failureOf(event) } : life
}

/** A start by hand hears of its failures itself, and decides itself what follows. */
export function wakeFailedStarting(life: Lifecycle, event: EventOf<typeof EventKind.WakeFailed>): Lifecycle {
  const { sleep } = life
  const own =
    life.startOrigin === StartOrigin.Traffic && event.boot === life.boot && life.wakingSinceMs !== undefined
  if (!own || sleep === undefined) return life
  return move.backToSleep({ ...life, ...move.failureOf(event) }, sleep)
}

/** The host was asked by the platform: how the application took it changes nothing of what this is. */
function platformStop(exit: ExitReport | undefined): NonNullable<Sleep['outcome']> {
  return stopOutcome(exit, { origin: StopOrigin.Platform, forced: false })
}

function isOrdered({ order }: Lifecycle, event: { readonly boot: number; readonly permit: number }): boolean {
  return order?.boot === event.boot && order.permit === event.permit
}

/** Of the present boot, or of the one that the host began by itself. */
export function ended(life: Lifecycle, exit: ExitReport, nowMs: number): Lifecycle {
  return exit.boot === life.boot ? move.endedByItself(life, exit, nowMs) : exitedByPermit(life, exit, nowMs)
}

export function idleRunning(
  life: Lifecycle,
  event: EventOf<typeof EventKind.Idle>,
  nowMs: number,
): Lifecycle {
  return standByIfDue(idleByPermit(life, event, nowMs), nowMs)
}

export function slept(before: Lifecycle, event: EventOf<typeof EventKind.Slept>): Lifecycle {
  const life = isOrdered(before, event) ? before : withLostOrder(before, event)
  if (life === undefined) return sleptBefore(before, event)
  const sinceMs = event.exit?.atMs ?? event.atMs
  const { snapshotUuid } = event
  const sleep = { boot: event.boot, sinceMs, outcome: platformStop(event.exit), snapshotUuid }
  const report = life.report?.boot === event.boot ? life.report : undefined
  const ranMs = report === undefined ? 0 : Math.max(0, sinceMs - report.startedAtMs)
  const rested = move.endSequenceIfDue(life, sinceMs)
  return {
    ...rested,
    ...move.nothingUnderWay,
    state: InstanceState.Standby,
    uptimeMs: life.uptimeMs + ranMs,
    stoppedAtMs: sleep.sinceMs,
    outcome: sleep.outcome,
    sleep,
  }
}

/**
 * The present boot was ordered to stand by, by a workflow that was lost since: its permit is what the host
 * acts by. The one after it may still be asking for that boot's start, and hear of it later.
 */
function withLostOrder(
  life: Lifecycle,
  { boot, permit }: EventOf<typeof EventKind.Slept>,
): Lifecycle | undefined {
  const isPresent = boot === life.boot && permit === (life.permit ?? boot + 1)
  return isPresent && life.order === undefined ? { ...life, permit } : undefined
}

/**
 * A repeat of what is known, or the first word of it where the instance never ran or its workflow was lost.
 */
export function sleptOn(life: Lifecycle, event: EventOf<typeof EventKind.Slept>): Lifecycle {
  if (!isOrdered(life, event)) return sleptAgain(life, event)
  const sleep = { ...life.sleep, boot: event.boot, snapshotUuid: event.snapshotUuid }
  return { ...life, order: undefined, retryAtMs: undefined, sleep }
}

/** It was woken before this was heard, in vain, and sleeps on. */
function sleptAgain(life: Lifecycle, event: EventOf<typeof EventKind.Slept>): Lifecycle {
  const told = sleptBefore(life, event)
  return told === life ? life : { ...told, stoppedAtMs: told.sleep?.sinceMs, outcome: told.sleep?.outcome }
}

/** What came after the sleep is under way already; what is still open of the boot that slept is told here. */
export function sleptBefore(life: Lifecycle, event: EventOf<typeof EventKind.Slept>): Lifecycle {
  const { boot, exit } = event
  const sinceMs = exit?.atMs ?? event.atMs
  const ended = move.endRun(life, boot, sinceMs)
  if (life.sleep?.boot !== boot || ended === life) return ended
  const { snapshotUuid } = event
  return { ...ended, sleep: { boot, sinceMs, outcome: platformStop(exit), snapshotUuid } }
}

/** As before, and the end that the stop shows is that of the boot that was shut down for standby. */
export function sleptStopping(life: Lifecycle, event: EventOf<typeof EventKind.Slept>): Lifecycle {
  const isOpen = life.unended?.boot === event.boot
  const ended = sleptBefore(life, event)
  if (!isOpen || event.exit === undefined || life.asked === undefined) return ended
  return { ...ended, outcome: stopOutcome(event.exit, life.asked) }
}

export function standByRefused(
  life: Lifecycle,
  { boot, epoch, reason }: EventOf<typeof EventKind.StandByRefused>,
  nowMs: number,
): Lifecycle {
  if (life.order?.boot !== boot || life.order.epoch !== epoch) return permitRefused(life, boot)
  const failed = noSnapshot.has(reason)
  const awakeUntilMs = failed ? nowMs + snapshotRetryMs : undefined
  // The next idle period may have been told before this.
  const idle = life.idle?.epoch === epoch ? undefined : life.idle
  const disabledBoot = reason === StandByRefusal.Disabled ? boot : life.disabledBoot
  return standByIfDue(
    { ...life, order: undefined, permit: undefined, idle, awakeUntilMs, disabledBoot },
    nowMs,
  )
}

/** What the order was for is over, and it left the host nothing. A later order has its own answer. */
export function permitRefused(life: Lifecycle, boot: number): Lifecycle {
  const isOpen = life.order !== undefined || life.sleep !== undefined || life.state === InstanceState.Stopping
  return life.permit === boot + 1 && !isOpen ? { ...life, permit: undefined } : life
}

/**
 * The host does not have it asleep. An instance that never ran can be left there later; one that a lost
 * workflow had in standby has gone on meanwhile, and only a start with a boot that is certainly new makes its
 * state known again.
 */
export function sleepRefused(
  life: Lifecycle,
  { boot, epoch, reason }: EventOf<typeof EventKind.StandByRefused>,
  nowMs: number,
): Lifecycle {
  if (life.order?.boot !== boot || life.order.epoch !== epoch) return life
  // Of what the host has nothing of, only leaving the permit can fail.
  if (boot === 0 || noSnapshot.has(reason)) return { ...life, retryAtMs: nowMs + orderRetryMs }
  const above = { ...life, boot: life.boot + bootsLeftOut, permit: undefined, sleep: undefined }
  return move.begin(above, StartOrigin.Platform)
}

/** Its host lost it with everything else: for whoever asks after it, it ended for an unknown reason. */
export function lostRunning(
  life: Lifecycle,
  { boot, atMs }: EventOf<typeof EventKind.Lost>,
  nowMs: number,
): Lifecycle {
  if (boot !== life.boot) return life
  return ended(life, { boot, cause: ExitCause.VmmLost, applicationStarted: true, atMs }, nowMs)
}

/**
 * The host gets its permit anew, so that traffic can wake it there. A memory that was kept is gone, and the
 * instance says so.
 */
export function lostAsleep(life: Lifecycle, { boot }: EventOf<typeof EventKind.Lost>): Lifecycle {
  if (boot !== life.boot || life.order !== undefined || life.sleep === undefined) return life
  const { snapshotUuid, ...sleep } = life.sleep
  const lost = snapshotUuid === undefined ? {} : { ...move.noFailure, failure: lostMemory }
  return { ...life, ...orderOf(life, 0), sleep, ...lost }
}

export function orderAgainIfDue(life: Lifecycle, nowMs: number): Lifecycle {
  return life.retryAtMs === undefined || life.retryAtMs > nowMs ? life : { ...life, retryAtMs: undefined }
}

/** By hand, while traffic wakes it: then it is a start by hand that goes on from there. */
export function startWaking(life: Lifecycle): Lifecycle {
  if (life.wakingSinceMs === undefined) return { ...life, restartAttempt: 0 }
  return { ...life, restartAttempt: 0, startOrigin: StartOrigin.User, wakingSinceMs: undefined }
}

/** A wake of which nothing was heard for too long. */
export function askIfSilent(life: Lifecycle, nowMs: number): Lifecycle {
  const { wakingSinceMs } = life
  if (wakingSinceMs === undefined || wakingSinceMs + wakePatienceMs > nowMs) return life
  return { ...life, wakingSinceMs: undefined }
}

/** It slept and was woken after all: nothing of what was to be waited for is connected any more. */
export function wokenDraining(life: Lifecycle, boot: number, nowMs: number): Lifecycle {
  return isWake(life, boot) && life.asked !== undefined ? move.shutDown(life, life.asked, nowMs) : life
}

/** Time that passed while it runs. */
export function runOn(life: Lifecycle, nowMs: number): Lifecycle {
  return standByIfDue(move.endSequenceIfDue(life, nowMs), nowMs)
}
