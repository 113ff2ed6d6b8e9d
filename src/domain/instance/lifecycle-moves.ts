import { ExitCause } from './exit-report.ts'
import type { ExitReport } from './exit-report.ts'
import { finalHostFailures } from './host-work.ts'
import type { HostFailure } from './host-work.ts'
import { InstanceState } from './state.ts'
import { Deletion, StartOrigin } from './lifecycle-state.ts'
import type { EventKind, EventOf, Lifecycle, Sleep } from './lifecycle-state.ts'
import { problemFreeMs, restartDelayMs, restartsAfter } from './restart-schedule.ts'
import { askedBits, stopOutcome } from './stop-reason.ts'
import type { AskedStop } from './stop-reason.ts'

/** The moves of the diagram in `instance-lifecycle.ts`: each takes a state it fits and says what follows. */

/**
 * Boots that one start asks for before it gives up; a start by the platform never does: somebody wants it to
 * run.
 */
export const maxStartTries = 3
const firstRetryMs = 1_000
const longestRetryMs = 30_000
/** Failures are read in a status; more than a line or two helps nobody there. */
export const maxFailureLength = 300

/** Everything that belongs to one start, one stop or one wait. */
export const nothingUnderWay = {
  retryAtMs: undefined,
  startAgain: undefined,
  asked: undefined,
  drainUntilMs: undefined,
  reopen: undefined,
  restartAtMs: undefined,
  givenUp: undefined,
  order: undefined,
  awakeUntilMs: undefined,
  wakingSinceMs: undefined,
} as const

/** Nothing has failed since. */
export const noFailure = { failure: undefined, failureKind: undefined } as const

export function begin(life: Lifecycle, startOrigin: StartOrigin): Lifecycle {
  return {
    ...endOverdue(life),
    ...nothingUnderWay,
    state: InstanceState.Starting,
    startOrigin,
    boot: life.boot + 1,
    startTries: 1,
    startCount: life.startCount + 1,
    stoppedAtMs: undefined,
    outcome: undefined,
    ...noFailure,
  }
}

/** A start by hand ends the restart sequence and its waiting. */
export function beginByHand(life: Lifecycle): Lifecycle {
  return begin({ ...life, restartAttempt: 0 }, StartOrigin.User)
}

function beginByPolicy(life: Lifecycle): Lifecycle {
  const { restartCount, restartAttempt } = life
  const counted = { ...life, restartCount: restartCount + 1, restartAttempt: restartAttempt + 1 }
  return begin(counted, StartOrigin.Policy)
}

/** By hand, while it is stopped. An instance that only its restarts kept from deletion goes now. */
export function endSequence(life: Lifecycle): Lifecycle {
  const ended = { ...life, restartAttempt: 0, restartAtMs: undefined }
  return life.restartAtMs === undefined ? ended : stayStopped(ended)
}

/** A host that was never asked for a boot, nor given a permit for one, has nothing to clean. */
export function startDeletion(life: Lifecycle): Lifecycle {
  const unknown = life.boot === 0 && life.permit === undefined
  return { ...life, deletion: unknown ? Deletion.Done : Deletion.Wanted }
}

export function started(life: Lifecycle, event: EventOf<typeof EventKind.Started>): Lifecycle {
  if (event.report.boot !== life.boot) return life
  const up = { ...life, ...permitOver(life), wakingSinceMs: undefined, ...noFailure }
  return noteReport({ ...up, state: InstanceState.Running }, event)
}

/** The boot of the permit came up or ended, or was stopped: the host can not start it any more. */
export function permitOver(life: Lifecycle): Pick<Lifecycle, 'permit' | 'sleep'> {
  const over = life.permit !== undefined && life.permit <= life.boot
  return over ? { permit: undefined, sleep: undefined } : { permit: life.permit, sleep: life.sleep }
}

/**
 * The report of a start may come after that boot's end: they travel apart. The state stays, the times are
 * filled in. When the first socket listened becomes known later still; a repeat of what was known before
 * takes nothing back.
 */
export function noteReport(life: Lifecycle, event: EventOf<typeof EventKind.Started>): Lifecycle {
  const { report } = event
  if (report.boot !== life.boot) return life
  if (life.report?.boot === life.boot) {
    return life.report.netTimeUs === undefined && report.netTimeUs !== undefined
      ? { ...life, report: { ...life.report, netTimeUs: report.netTimeUs } }
      : life
  }
  const ranMs = life.stoppedAtMs === undefined ? 0 : Math.max(0, life.stoppedAtMs - report.startedAtMs)
  return { ...life, report, uptimeMs: life.uptimeMs + ranMs }
}

export function startFailed(
  life: Lifecycle,
  event: EventOf<typeof EventKind.StartFailed>,
  nowMs: number,
): Lifecycle {
  if (event.boot !== life.boot || life.retryAtMs !== undefined) return life
  const failed = { ...life, ...failureOf(event), wakingSinceMs: undefined }
  const final = event.failure !== undefined && finalHostFailures.includes(event.failure)
  if (!final && (life.startOrigin === StartOrigin.Platform || life.startTries < maxStartTries)) {
    const delayMs = Math.min(longestRetryMs, firstRetryMs * 2 ** (life.startTries - 1))
    return { ...failed, retryAtMs: nowMs + delayMs }
  }
  // The host still has its permit.
  if (life.sleep !== undefined) return orderAgain(backToSleep(failed, life.sleep))
  const stopped = stop({ ...failed, outcome: { stopReason: 0 } }, nowMs)
  if (final) return stayStopped(stopped)
  return restartOrStay({ ...stopped, givenUp: life.boot }, nowMs)
}

/** Its host has nothing of that boot any more. */
export function givenUpOver(life: Lifecycle, boot: number): Lifecycle {
  return life.givenUp === boot ? { ...life, givenUp: undefined } : life
}

export function retryIfDue(life: Lifecycle, nowMs: number): Lifecycle {
  if (life.retryAtMs === undefined || life.retryAtMs > nowMs) return life
  // Of what sleeps, the host wakes the permit's boot and no other: with a new one its memory would be lost.
  const boot = life.sleep === undefined ? life.boot + 1 : life.boot
  return { ...life, retryAtMs: undefined, boot, startTries: life.startTries + 1 }
}

/**
 * Whether the host heard of the first order before it was asked to start is not known; a repeat does no harm.
 */
function orderAgain(life: Lifecycle): Lifecycle {
  return { ...life, order: { boot: life.boot, epoch: 0, permit: life.boot + 1 } }
}

/** What readers see of a start or wake that failed. */
export function failureOf(event: {
  readonly message: string
  readonly failure?: HostFailure
}): Required<Pick<Lifecycle, 'failure'>> & Pick<Lifecycle, 'failureKind'> {
  return { failure: event.message.slice(0, maxFailureLength), failureKind: event.failure }
}

/** The boot of the permit did not come up, so it never was one; the next attempt is for it again. */
export function backToSleep(life: Lifecycle, sleep: Sleep): Lifecycle {
  return {
    ...life,
    ...nothingUnderWay,
    state: InstanceState.Standby,
    boot: life.boot - 1,
    startCount: life.startCount - 1,
    stoppedAtMs: sleep.sinceMs,
    outcome: sleep.outcome,
  }
}

export function restartIfDue(life: Lifecycle, nowMs: number): Lifecycle {
  return life.restartAtMs === undefined || life.restartAtMs > nowMs ? life : beginByPolicy(life)
}

/** When the present run will have been free of problems; absent where there is no sequence to end. */
export function problemFreeAtMs(life: Lifecycle): number | undefined {
  if (life.state !== InstanceState.Running || life.restartAttempt === 0) return undefined
  return life.report?.boot === life.boot ? life.report.startedAtMs + problemFreeMs : undefined
}

export function endSequenceIfDue(life: Lifecycle, nowMs: number): Lifecycle {
  const atMs = problemFreeAtMs(life)
  return atMs === undefined || atMs > nowMs ? life : { ...life, restartAttempt: 0 }
}

/**
 * What the host may start by itself is stopped with it: from here on that boot is used up. Also between two
 * tries of a start: an attempt that was cut off may still come up.
 */
export function shutDown(life: Lifecycle, asked: AskedStop, nowMs: number): Lifecycle {
  const boot = Math.max(life.boot, life.permit ?? 0)
  return {
    ...(boot === life.boot ? life : leaveRunOpen(life, nowMs)),
    ...nothingUnderWay,
    boot,
    restartAttempt: 0,
    asked,
    outcome: { stopReason: askedBits(asked) },
    state: InstanceState.Stopping,
  }
}

export function drain(life: Lifecycle, asked: AskedStop, drainUntilMs: number): Lifecycle {
  return {
    ...life,
    state: InstanceState.Draining,
    restartAttempt: 0,
    asked,
    drainUntilMs,
    outcome: { stopReason: askedBits(asked) },
  }
}

/** Nothing was shut down yet, so a start by hand just takes the stop back. */
export function undrain(life: Lifecycle): Lifecycle {
  return { ...life, ...nothingUnderWay, state: InstanceState.Running, outcome: undefined, reopen: true }
}

/** A boot ended that nobody wanted to end. */
export function endedByItself(life: Lifecycle, exit: ExitReport, nowMs: number): Lifecycle {
  if (exit.boot !== life.boot || life.retryAtMs !== undefined) return life
  const ran = { ...endSequenceIfDue(addUptime(life, exit), exit.atMs), ...permitOver(life) }
  if (exit.cause === ExitCause.HostHalted) return begin(ran, StartOrigin.Platform)
  return restartOrStay(stop({ ...ran, outcome: stopOutcome(exit, undefined) }, exit.atMs), nowMs)
}

/** A boot ended as it was asked to; without `exit` the host never knew it, or knows no end of it. */
export function endedAsAsked(life: Lifecycle, exit: ExitReport | undefined, nowMs: number): Lifecycle {
  if (exit !== undefined && exit.boot !== life.boot) return endedBefore(life, exit)
  const ran = { ...(exit === undefined ? life : addUptime(life, exit)), ...permitOver(life) }
  if (life.startAgain === true) return beginByHand(ran)
  const outcome = exit === undefined ? life.outcome : stopOutcome(exit, life.asked)
  return stayStopped(stop({ ...ran, outcome }, exit?.atMs ?? nowMs))
}

/** The stop is one of the permit's boot, and this is the end of the boot before it. */
function endedBefore(life: Lifecycle, exit: ExitReport): Lifecycle {
  if (life.unended?.boot !== exit.boot) return life
  return { ...endRun(life, exit.boot, exit.atMs), outcome: stopOutcome(exit, life.asked) }
}

/** The present run goes over into what comes next before its end is known. */
export function leaveRunOpen(life: Lifecycle, untilMs: number): Lifecycle {
  const { report } = life
  const runs = life.state === InstanceState.Running || life.state === InstanceState.Draining
  if (!runs || report?.boot !== life.boot) return life
  const { startedAtMs } = report
  return { ...endOverdue(life), unended: { boot: life.boot, startedAtMs, untilMs } }
}

/** It became known when a run ended whose end was open. */
export function endRun(life: Lifecycle, boot: number, atMs: number): Lifecycle {
  const { unended } = life
  if (unended?.boot !== boot) return life
  const ranMs = Math.max(0, atMs - unended.startedAtMs)
  return { ...life, uptimeMs: life.uptimeMs + ranMs, unended: undefined }
}

/** It was not told, and what would be told now is of later runs. */
function endOverdue(life: Lifecycle): Lifecycle {
  return life.unended === undefined ? life : endRun(life, life.unended.boot, life.unended.untilMs)
}

export function addUptime(life: Lifecycle, exit: ExitReport): Lifecycle {
  if (life.report?.boot !== exit.boot) return life
  return { ...life, uptimeMs: life.uptimeMs + Math.max(0, exit.atMs - life.report.startedAtMs) }
}

function stop(life: Lifecycle, stoppedAtMs: number): Lifecycle {
  return { ...life, ...nothingUnderWay, state: InstanceState.Stopped, stoppedAtMs }
}

/** The policy has the first word, deletion the second: an instance that restarts did not stop for good. */
function restartOrStay(life: Lifecycle, nowMs: number): Lifecycle {
  if (life.outcome === undefined || !restartsAfter(life.restartPolicy, life.outcome)) {
    return stayStopped({ ...life, restartAttempt: 0 })
  }
  const delayMs = restartDelayMs(life.restartAttempt)
  return delayMs === 0 ? beginByPolicy(life) : { ...life, restartAtMs: nowMs + delayMs }
}

export function stayStopped(life: Lifecycle): Lifecycle {
  return goesByItself(life) ? { ...life, deletion: Deletion.Wanted } : life
}

/** It is deleted by having stopped, and by nobody else. */
export function goesByItself({ deleteOnStop, retired }: Lifecycle): boolean {
  return deleteOnStop || retired === true
}

/** What is stopped already goes at once, whatever it waits for. */
export function retireStopped(life: Lifecycle): Lifecycle {
  return startDeletion({ ...endSequence(life), retired: true })
}
