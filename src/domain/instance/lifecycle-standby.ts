import { ExitCause } from './exit-report.ts'
import type { ExitReport } from './exit-report.ts'
import { StandByRefusal } from './host-work.ts'
import { InstanceState } from './state.ts'
import * as move from './lifecycle-moves.ts'
import { MoveStep, StartOrigin } from './lifecycle-state.ts'
import type { EventKind, EventOf, Lifecycle, Sleep } from './lifecycle-state.ts'
import { notMoved, notSuspended } from './lifecycle-suspend.ts'
import { StopOrigin, stopOutcome } from './stop-reason.ts'

/**
 * Standby, as the lifecycle sees it. The host reports idle periods. When one has lasted for the cooldown, the
 * host is ordered to stand by, which leaves it a permit for the boot that follows. The host reports
 * afterwards what it did with the permit. These reports may come in any order: `waking` or `started` of the
 * permit's boot before the answer to the order, `exited` before both.
 *
 * - `permit` is set from the order until that boot came up, ended or was stopped. While it is set, a stop is
 *   for the permit's boot, so that the host can not start that boot after the instance was stopped.
 * - `sleep` is set from the answer until the same moment. A wake that fails leads back to it, with the boot
 *   that slept.
 */

/**
 * How long a wake may be under way without news. After that the host is asked for its boot as for any
 * start. The request joins the wake that is under way.
 */
export const wakePatienceMs = 30_000
/**
 * How long to wait before an order for an instance that never ran is repeated, if the host could not carry
 * it out.
 */
export const orderRetryMs = 5_000
/**
 * How long to wait after a failed snapshot before the next attempt, because each attempt holds traffic up.
 */
export const snapshotRetryMs = 60_000
/** Refusals with which the guest was ready for standby, but its host could not keep its memory. */
const noSnapshot: ReadonlySet<StandByRefusal> = new Set([
  StandByRefusal.SnapshotFailed,
  StandByRefusal.NoRoom,
])
/** The failure of a sleeping instance whose memory was lost by its host. */
export const lostMemory =
  'its host lost the memory that it had kept: the next wake starts the application anew'
/**
 * How many boot numbers are skipped, to be above every boot that a lost workflow may have asked for since its
 * row was written.
 */
export const bootsLeftOut = 1_000

/** Returns when the host has to be ordered to stand by; undefined if something speaks against it. */
export function standbyDueAtMs(life: Lifecycle): number | undefined {
  const { idle, scaleToZero, awakeUntilMs = 0 } = life
  if (life.state !== InstanceState.Running || life.order !== undefined || scaleToZero === undefined)
    return undefined
  if (idle?.boot !== life.boot || life.disabledBoot === life.boot) return undefined
  return Math.max(idle.sinceMs + scaleToZero.cooldownMs, awakeUntilMs)
}

export function standByIfDue(life: Lifecycle, nowMs: number): Lifecycle {
  const { state, suspend, order } = life
  if (state === InstanceState.Running && suspend !== undefined && order === undefined) {
    const { order: plain, permit } = orderOf(life, suspend.atMs)
    return { ...life, order: { ...plain, drainMs: suspend.drainMs }, permit, awakeUntilMs: undefined }
  }
  const dueAtMs = standbyDueAtMs(life)
  if (dueAtMs === undefined || dueAtMs > nowMs || life.idle === undefined) return life
  return { ...life, ...orderOf(life, life.idle.epoch), awakeUntilMs: undefined }
}

export function orderOf({ boot }: Lifecycle, epoch: number) {
  return { order: { boot, epoch, permit: boot + 1 }, permit: boot + 1 }
}

/**
 * The life in standby with a boot that sleeps, or boot 0 if the instance never ran. The host has yet to
 * confirm it.
 */
export function inStandby(life: Lifecycle, sleep: Sleep): Lifecycle {
  return { ...life, ...orderOf(life, 0), state: InstanceState.Standby, sleep }
}

export function noteIdle(
  life: Lifecycle,
  { boot, epoch, sinceMs }: EventOf<typeof EventKind.Idle>,
): Lifecycle {
  if (life.scaleToZero === undefined || boot < life.boot) return life
  // While an instance is idle, nothing speaks against standby. An older `disabled` event, or one that was
  // overtaken, no longer counts.
  const disabledBoot = life.disabledBoot === boot ? undefined : life.disabledBoot
  return { ...life, idle: { boot, epoch, sinceMs }, disabledBoot }
}

/**
 * The host reported an idle period of the permit's boot: it has woken that boot, and the report of the wake
 * was lost.
 */
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

/**
 * Whether `boot` is the permit's boot and newer than the present one, so that the host must have begun a
 * wake. A permit that is older belongs to a try of a start that was given up: news of that boot come too
 * late.
 */
function isWake(life: Lifecycle, boot: number): boolean {
  return boot === life.permit && boot > life.boot
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

/** The host sent `started` for a running instance. It also sends this when it has let traffic in again. */
export function startedRunning(life: Lifecycle, event: EventOf<typeof EventKind.Started>): Lifecycle {
  return startedByPermit(event.report.boot === life.boot ? reopened(life) : life, event)
}

export function reopened(life: Lifecycle): Lifecycle {
  return life.reopen === undefined ? life : { ...life, reopen: undefined }
}

export function startedStarting(life: Lifecycle, event: EventOf<typeof EventKind.Started>): Lifecycle {
  const up = isWake(life, event.report.boot) ? startedByPermit(life, event) : move.started(life, event)
  // The idle period of this boot may have been reported before its start was.
  return standByIfDue(up, event.report.startedAtMs)
}

export function exitedByPermit(life: Lifecycle, exit: ExitReport, nowMs: number): Lifecycle {
  if (!isWake(life, exit.boot)) return move.endRun(life, exit.boot, exit.atMs)
  return move.endedByItself(woken(life, exit.boot, exit.atMs), exit, nowMs)
}

/** A wake of a sleeping instance failed, so the instance sleeps on. */
export function wakeFailed(life: Lifecycle, event: EventOf<typeof EventKind.WakeFailed>): Lifecycle {
  return isWake(life, event.boot) ? { ...life, ...move.failureOf(event) } : life
}

/**
 * A wake failed while the instance is starting. Only a wake by traffic returns to sleep here. A start by
 * hand gets a report of its own failure, and decides itself what follows.
 */
export function wakeFailedStarting(life: Lifecycle, event: EventOf<typeof EventKind.WakeFailed>): Lifecycle {
  const { sleep } = life
  const own =
    life.startOrigin === StartOrigin.Traffic && event.boot === life.boot && life.wakingSinceMs !== undefined
  if (!own || sleep === undefined) return life
  return move.backToSleep({ ...life, ...move.failureOf(event) }, sleep)
}

/**
 * The outcome of a shutdown for standby. It is a stop by the platform, however the application reacted to it.
 */
function platformStop(exit: ExitReport | undefined): NonNullable<Sleep['outcome']> {
  return stopOutcome(exit, { origin: StopOrigin.Platform, forced: false })
}

function isOrdered({ order }: Lifecycle, event: { readonly boot: number; readonly permit: number }): boolean {
  return order?.boot === event.boot && order.permit === event.permit
}

/** Records the end of the present boot, or of the boot that the host started by its permit. */
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
  const suspended = life.suspend === undefined ? undefined : (true as const)
  const sleep = { boot: event.boot, sinceMs, outcome: platformStop(event.exit), snapshotUuid, suspended }
  const report = life.report?.boot === event.boot ? life.report : undefined
  const ranMs = report === undefined ? 0 : Math.max(0, sinceMs - report.startedAtMs)
  const rested = move.endSequenceIfDue(life, sinceMs)
  const asleep: Lifecycle = {
    ...rested,
    ...move.nothingUnderWay,
    state: InstanceState.Standby,
    uptimeMs: life.uptimeMs + ranMs,
    stoppedAtMs: sleep.sinceMs,
    outcome: sleep.outcome,
    sleep,
  }
  if (life.startAgain === true) return move.beginByHand(asleep)
  return life.order?.hold !== undefined && suspended === undefined ? heldToMove(asleep) : asleep
}

/** The instance ran and sleeps only to move. It starts at the host that it has when the move is over. */
function heldToMove(asleep: Lifecycle): Lifecycle {
  const { move: wanted, boot, permit, stoppedAtMs: sinceMs = 0 } = asleep
  const step = MoveStep.Hold
  const held = wanted === undefined ? {} : { move: { ...wanted, step, sinceMs, boot, permit } }
  return move.begin({ ...asleep, ...held }, StartOrigin.Platform)
}

/**
 * Adds the permit of an order that only an earlier, lost workflow knew; undefined if there was no such
 * order. That workflow had ordered the present boot to stand by, and the host acts by its permit. The
 * present workflow may still be asking for the start of that boot, and learns of the standby only later.
 */
function withLostOrder(
  life: Lifecycle,
  { boot, permit }: EventOf<typeof EventKind.Slept>,
): Lifecycle | undefined {
  const isPresent = boot === life.boot && permit === (life.permit ?? boot + 1)
  return isPresent && life.order === undefined ? { ...life, permit } : undefined
}

/**
 * The host answered `slept` for an instance in standby. The answer is a repeat, or it is the first answer
 * for an instance that never ran or whose workflow was lost.
 */
export function sleptOn(life: Lifecycle, event: EventOf<typeof EventKind.Slept>): Lifecycle {
  if (!isOrdered(life, event)) return sleptAgain(life, event)
  const sleep = { ...life.sleep, boot: event.boot, snapshotUuid: event.snapshotUuid }
  return { ...life, order: undefined, retryAtMs: undefined, sleep }
}

/** The instance was woken before this answer arrived, and the wake failed, so it sleeps again. */
function sleptAgain(life: Lifecycle, event: EventOf<typeof EventKind.Slept>): Lifecycle {
  const told = sleptBefore(life, event)
  return told === life ? life : { ...told, stoppedAtMs: told.sleep?.sinceMs, outcome: told.sleep?.outcome }
}

/**
 * The host answered `slept`, but what followed the sleep is already under way. Only the end of the boot
 * that slept is recorded here, if it is still open.
 */
export function sleptBefore(life: Lifecycle, event: EventOf<typeof EventKind.Slept>): Lifecycle {
  const { boot, exit } = event
  const sinceMs = exit?.atMs ?? event.atMs
  const ended = move.endRun(life, boot, sinceMs)
  if (life.sleep?.boot !== boot || ended === life) return ended
  const { snapshotUuid } = event
  const { suspended } = life.sleep
  return { ...ended, sleep: { boot, sinceMs, outcome: platformStop(exit), snapshotUuid, suspended } }
}

/** Like `sleptBefore`. In addition, the stop shows the end of the boot that was shut down for standby. */
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
  if (life.order.hold !== undefined) return standByIfDue(notMoved(life, reason, nowMs), nowMs)
  if (life.order.drainMs !== undefined) return standByIfDue(notSuspended(life, reason), nowMs)
  const failed = noSnapshot.has(reason)
  const awakeUntilMs = failed ? nowMs + snapshotRetryMs : undefined
  // The next idle period may have been reported before this answer.
  const idle = life.idle?.epoch === epoch ? undefined : life.idle
  const disabledBoot = reason === StandByRefusal.Disabled ? boot : life.disabledBoot
  return standByIfDue(
    { ...life, order: undefined, permit: undefined, idle, awakeUntilMs, disabledBoot },
    nowMs,
  )
}

/** The order has ended without a permit for the host. A later order has an answer of its own. */
export function permitRefused(life: Lifecycle, boot: number): Lifecycle {
  const isOpen = life.order !== undefined || life.sleep !== undefined || life.state === InstanceState.Stopping
  return life.permit === boot + 1 && !isOpen ? { ...life, permit: undefined } : life
}

/**
 * The host refused the order to stand by for an instance in standby, so the instance does not sleep there.
 * If it never ran, the order is repeated later. If a lost workflow had put it to standby, it has changed
 * since; only a start with a boot number that is certainly new makes its state known again.
 */
export function sleepRefused(
  life: Lifecycle,
  { boot, epoch, reason }: EventOf<typeof EventKind.StandByRefused>,
  nowMs: number,
): Lifecycle {
  if (life.order?.boot !== boot || life.order.epoch !== epoch) return life
  // The host has nothing of the instance and only had to keep the permit. If that failed, the order is
  // repeated.
  if (boot === 0 || noSnapshot.has(reason)) return { ...life, retryAtMs: nowMs + orderRetryMs }
  const above = { ...life, boot: life.boot + bootsLeftOut, permit: undefined, sleep: undefined }
  return move.begin(above, StartOrigin.Platform)
}

/** The host lost the instance with everything else. For readers, the boot ended for an unknown reason. */
export function lostRunning(
  life: Lifecycle,
  { boot, atMs }: EventOf<typeof EventKind.Lost>,
  nowMs: number,
): Lifecycle {
  if (boot !== life.boot) return life
  return ended(life, { boot, cause: ExitCause.VmmLost, applicationStarted: true, atMs }, nowMs)
}

/**
 * The host lost an instance that sleeps. It gets its permit again, so that traffic can wake the instance
 * there. If a memory was kept, it is lost, and the instance's failure says so.
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

/** A start by hand came while traffic wakes the instance: the wake continues as a start by hand. */
export function startWaking(before: Lifecycle): Lifecycle {
  const life = before.suspend === undefined ? before : { ...before, suspend: undefined }
  if (life.wakingSinceMs === undefined) return { ...life, restartAttempt: 0 }
  return { ...life, restartAttempt: 0, startOrigin: StartOrigin.User, wakingSinceMs: undefined }
}

/** If nothing was heard of a wake for too long, the host is asked for it. */
export function askIfSilent(life: Lifecycle, nowMs: number): Lifecycle {
  const { wakingSinceMs } = life
  if (wakingSinceMs === undefined || wakingSinceMs + wakePatienceMs > nowMs) return life
  return { ...life, wakingSinceMs: undefined }
}

/**
 * The instance slept and was woken after all. Nothing that the drain waited for is connected any more, so it
 * is shut down.
 */
export function wokenDraining(life: Lifecycle, boot: number, nowMs: number): Lifecycle {
  return isWake(life, boot) && life.asked !== undefined ? move.shutDown(life, life.asked, nowMs) : life
}

/** Applies the time that has passed while the instance runs. */
export function runOn(life: Lifecycle, nowMs: number): Lifecycle {
  return standByIfDue(move.endSequenceIfDue(life, nowMs), nowMs)
}
