import { doublingDelayMs } from '../doubling-delay.ts'
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

/**
 * The moves of the diagram in `lifecycle.ts`. Each one gets a life in a state to which it applies, and
 * returns the next life.
 */

/**
 * The largest number of boots that a start by a user tries before it fails for good; the user sees the
 * failure and may start again. A start by the platform has no limit: nobody is there who would start the
 * instance again.
 */
export const maxStartTries = 3
/** The wait before the next try of a start. */
const retryDelay = { firstMs: 1_000, longestMs: 30_000 }
/**
 * The longest text of a failure. The text is shown in a status, where more than a line or two helps nobody.
 */
export const maxFailureLength = 300

/** Clears all fields that belong to one start, one stop or one wait. */
export const nothingUnderWay = {
  retryAtMs: undefined,
  endedTry: undefined,
  startAgain: undefined,
  asked: undefined,
  drainUntilMs: undefined,
  reopen: undefined,
  restartAtMs: undefined,
  givenUp: undefined,
  order: undefined,
  suspend: undefined,
  awakeUntilMs: undefined,
  wakingSinceMs: undefined,
} as const

/** Clears the failure. */
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

/** Begins a start by hand. It ends the restart sequence, including a wait for the next restart. */
export function beginByHand(life: Lifecycle): Lifecycle {
  return begin({ ...life, restartAttempt: 0 }, StartOrigin.User)
}

function beginByPolicy(life: Lifecycle): Lifecycle {
  const { restartCount, restartAttempt } = life
  const counted = { ...life, restartCount: restartCount + 1, restartAttempt: restartAttempt + 1 }
  return begin(counted, StartOrigin.Policy)
}

/**
 * Ends the restart sequence by hand while the instance is stopped. If a restart was still to come and the
 * instance is deleted when it stops, its deletion begins now.
 */
export function endSequence(life: Lifecycle): Lifecycle {
  const ended = { ...life, restartAttempt: 0, restartAtMs: undefined }
  return life.restartAtMs === undefined ? ended : stayStopped(ended)
}

/**
 * Begins the deletion. A host that was never asked for a boot and has no permit for one need not be
 * cleaned, so only the row is left then. The same is true while the instance is on no host.
 */
export function startDeletion(life: Lifecycle): Lifecycle {
  const neverAsked = life.boot === 0 && life.permit === undefined && life.move?.boot === undefined
  const unknown = neverAsked || life.placing === true
  return { ...life, deletion: unknown ? Deletion.Done : Deletion.Wanted }
}

export function started(life: Lifecycle, event: EventOf<typeof EventKind.Started>): Lifecycle {
  if (event.report.boot !== life.boot || event.report.boot === life.endedTry) return life
  // A try that was cut off may come up although its start was reported as failed. No other try follows
  // then.
  const up = { ...life, ...permitOver(life), wakingSinceMs: undefined, retryAtMs: undefined, ...noFailure }
  return noteReport({ ...up, state: InstanceState.Running }, event)
}

/**
 * Clears the permit and the sleep once the permit's boot came up, ended or was stopped: the host can not
 * start that boot any more.
 */
export function permitOver(life: Lifecycle): Pick<Lifecycle, 'permit' | 'sleep'> {
  const over = life.permit !== undefined && life.permit <= life.boot
  return over ? { permit: undefined, sleep: undefined } : { permit: life.permit, sleep: life.sleep }
}

/**
 * Records the report of a start. It may come after the end of its boot, because the two are sent
 * separately. The state then stays, and the times are filled in. The time when the first socket listened
 * may be reported even later. A repeat of an earlier report removes nothing.
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
    const delayMs = doublingDelayMs(retryDelay, life.startTries - 1)
    return { ...failed, retryAtMs: nowMs + delayMs }
  }
  // The host still has its permit, so the instance sleeps on.
  if (life.sleep !== undefined) return orderAgain(backToSleep(failed, life.sleep))
  const stopped = stop({ ...failed, outcome: { stopReason: 0 } }, nowMs)
  if (final) return stayStopped(stopped)
  return restartOrStay({ ...stopped, givenUp: life.boot }, nowMs)
}

/** Clears `givenUp`, because the host has nothing left of that boot. */
export function givenUpOver(life: Lifecycle, boot: number): Lifecycle {
  return life.givenUp === boot ? { ...life, givenUp: undefined } : life
}

export function retryIfDue(life: Lifecycle, nowMs: number): Lifecycle {
  if (life.retryAtMs === undefined || life.retryAtMs > nowMs) return life
  // The host wakes a sleeping instance only with the permit's boot. With a new boot, its memory would be
  // lost.
  const boot = life.sleep === undefined ? life.boot + 1 : life.boot
  return { ...life, retryAtMs: undefined, endedTry: undefined, boot, startTries: life.startTries + 1 }
}

/**
 * Orders the host to stand by once more. It is unknown whether the host got the first order before it was
 * asked to start. A repeat does no harm.
 */
function orderAgain(life: Lifecycle): Lifecycle {
  return { ...life, order: { boot: life.boot, epoch: 0, permit: life.boot + 1 } }
}

/** The failure of a start or wake as readers see it. */
export function failureOf(event: {
  readonly message: string
  readonly failure?: HostFailure
}): Required<Pick<Lifecycle, 'failure'>> & Pick<Lifecycle, 'failureKind'> {
  return { failure: event.message.slice(0, maxFailureLength), failureKind: event.failure }
}

/**
 * Returns to standby after a wake that failed. The permit's boot did not come up, so it does not count as a
 * boot, and the next attempt has the same number.
 */
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

/**
 * When the present run has been free of problems for long enough to end the restart sequence; undefined if
 * there is no such sequence.
 */
export function problemFreeAtMs(life: Lifecycle): number | undefined {
  if (life.state !== InstanceState.Running || life.restartAttempt === 0) return undefined
  return life.report?.boot === life.boot ? life.report.startedAtMs + problemFreeMs : undefined
}

export function endSequenceIfDue(life: Lifecycle, nowMs: number): Lifecycle {
  const atMs = problemFreeAtMs(life)
  return atMs === undefined || atMs > nowMs ? life : { ...life, restartAttempt: 0 }
}

/**
 * Begins to stop the instance. If the host may start a boot by itself, that boot is stopped too, and its
 * number is used up. A stop is also needed between two tries of a start, because a try that was cut off may
 * still come up.
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

/** Ends the drain of a stop, because a start by hand came before anything was shut down. */
export function undrain(life: Lifecycle): Lifecycle {
  return { ...life, ...nothingUnderWay, state: InstanceState.Running, outcome: undefined, reopen: true }
}

/** A boot ended although nobody had asked for it. */
export function endedByItself(life: Lifecycle, exit: ExitReport, nowMs: number): Lifecycle {
  if (exit.boot !== life.boot) return life
  if (life.retryAtMs !== undefined) return { ...life, endedTry: exit.boot }
  const ran = { ...endSequenceIfDue(addUptime(life, exit), exit.atMs), ...permitOver(life) }
  if (exit.cause === ExitCause.HostHalted) return begin(ran, StartOrigin.Platform)
  return restartOrStay(stop({ ...ran, outcome: stopOutcome(exit, undefined) }, exit.atMs), nowMs)
}

/**
 * A boot ended as it was asked to. Without `exit`, the host never knew the boot, or does not know how it
 * ended.
 */
export function endedAsAsked(life: Lifecycle, exit: ExitReport | undefined, nowMs: number): Lifecycle {
  if (exit !== undefined && exit.boot !== life.boot) return endedBefore(life, exit)
  const ran = { ...(exit === undefined ? life : addUptime(life, exit)), ...permitOver(life) }
  if (life.startAgain === true) return beginByHand(ran)
  const outcome = exit === undefined ? life.outcome : stopOutcome(exit, life.asked)
  return stayStopped(stop({ ...ran, outcome }, exit?.atMs ?? nowMs))
}

/**
 * The stop was for the boot of the permit. This is the report of the run before it, whose end was still open.
 */
function endedBefore(life: Lifecycle, exit: ExitReport): Lifecycle {
  if (life.unended?.boot !== exit.boot) return life
  return { ...endRun(life, exit.boot, exit.atMs), outcome: stopOutcome(exit, life.asked) }
}

/**
 * Notes the present run as one whose end is not known yet, because the next state comes before the report
 * of its end.
 */
export function leaveRunOpen(life: Lifecycle, untilMs: number): Lifecycle {
  const { report } = life
  const runs = life.state === InstanceState.Running || life.state === InstanceState.Draining
  if (!runs || report?.boot !== life.boot) return life
  const { startedAtMs } = report
  return { ...endOverdue(life), unended: { boot: life.boot, startedAtMs, untilMs } }
}

/** Counts the uptime of a run with an open end, now that its end is known. */
export function endRun(life: Lifecycle, boot: number, atMs: number): Lifecycle {
  const { unended } = life
  if (unended?.boot !== boot) return life
  const ranMs = Math.max(0, atMs - unended.startedAtMs)
  return { ...life, uptimeMs: life.uptimeMs + ranMs, unended: undefined }
}

/** Ends a run whose end was never reported. Later reports are about later runs. */
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

/**
 * Restarts the instance if its policy says so; otherwise the instance stays stopped, and may be deleted.
 * The policy comes first, because an instance that restarts did not stop for good.
 */
function restartOrStay(life: Lifecycle, nowMs: number): Lifecycle {
  if (life.outcome === undefined || !restartsAfter(life.restartPolicy, life.outcome)) {
    return stayStopped({ ...life, restartAttempt: 0 })
  }
  const delayMs = restartDelayMs(life.restartAttempt)
  return delayMs === 0 ? beginByPolicy(life) : { ...life, restartAtMs: nowMs + delayMs }
}

export function stayStopped(life: Lifecycle): Lifecycle {
  if (!goesByItself(life)) return life
  return { ...life, deletion: life.placing === true ? Deletion.Done : Deletion.Wanted }
}

/** Whether the instance is deleted because it stopped, without a request to delete it. */
export function goesByItself({ deleteOnStop, retired }: Lifecycle): boolean {
  return deleteOnStop || retired === true
}

/** Retires an instance that is already stopped: it is deleted at once, even if it waits for a restart. */
export function retireStopped(life: Lifecycle): Lifecycle {
  return startDeletion({ ...endSequence(life), retired: true })
}
