import { ExitCause } from './exit-report.ts'
import type { ExitReport } from './exit-report.ts'
import { finalHostFailures } from './host-work.ts'
import { InstanceState } from './instance-state.ts'
import { Deletion, StartOrigin } from './lifecycle-state.ts'
import type { EventKind, EventOf, Lifecycle } from './lifecycle-state.ts'
import { problemFreeMs, restartDelayMs, restartsAfter } from './restart-schedule.ts'
import { askedBits, stopOutcome } from './stop-reason.ts'
import type { AskedStop } from './stop-reason.ts'

/** The moves of the diagram in `instance-lifecycle.ts`: each takes a state it fits and says what follows. */

/** Boots that one start asks for before it gives up; a start by the platform never does: somebody wants it to run. */
export const maxStartTries = 3
const firstRetryMs = 1_000
const longestRetryMs = 30_000
/** Failures are read in a status; more than a line or two helps nobody there. */
export const maxFailureLength = 300

/** Everything that belongs to one start, one stop or one wait. */
const nothingUnderWay = {
  retryAtMs: undefined,
  startAgain: undefined,
  asked: undefined,
  drainUntilMs: undefined,
  restartAtMs: undefined,
} as const

function begin(life: Lifecycle, startOrigin: StartOrigin): Lifecycle {
  return {
    ...life,
    ...nothingUnderWay,
    state: InstanceState.Starting,
    startOrigin,
    boot: life.boot + 1,
    startTries: 1,
    startCount: life.startCount + 1,
    stoppedAtMs: undefined,
    outcome: undefined,
    failure: undefined,
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

/** Nothing leads to standby yet; a stop by hand would make it an ordinary stop. */
export function leaveStandby(life: Lifecycle, _event: unknown, nowMs: number): Lifecycle {
  return stayStopped(stop({ ...life, restartAttempt: 0 }, nowMs))
}

/** A host that was never asked for a boot has nothing to clean. */
export function startDeletion(life: Lifecycle): Lifecycle {
  return { ...life, deletion: life.boot === 0 ? Deletion.Done : Deletion.Wanted }
}

export function started(life: Lifecycle, event: EventOf<typeof EventKind.Started>): Lifecycle {
  if (event.report.boot !== life.boot) return life
  return noteReport({ ...life, state: InstanceState.Running, failure: undefined }, event)
}

/**
 * The report of a start may come after that boot's end: they travel apart. The state stays, the times are filled in.
 * When the first socket listened becomes known later still; a repeat of what was known before takes nothing back.
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
  const failed = { ...life, failure: event.message.slice(0, maxFailureLength) }
  const final = event.failure !== undefined && finalHostFailures.includes(event.failure)
  if (!final && (life.startOrigin === StartOrigin.Platform || life.startTries < maxStartTries)) {
    const delayMs = Math.min(longestRetryMs, firstRetryMs * 2 ** (life.startTries - 1))
    return { ...failed, retryAtMs: nowMs + delayMs }
  }
  const stopped = stop({ ...failed, outcome: { stopReason: 0 } }, nowMs)
  return final ? stayStopped(stopped) : restartOrStay(stopped, nowMs)
}

export function retryIfDue(life: Lifecycle, nowMs: number): Lifecycle {
  if (life.retryAtMs === undefined || life.retryAtMs > nowMs) return life
  return { ...life, retryAtMs: undefined, boot: life.boot + 1, startTries: life.startTries + 1 }
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

export function shutDown(life: Lifecycle, asked: AskedStop, nowMs: number): Lifecycle {
  const wanted = {
    ...life,
    ...nothingUnderWay,
    restartAttempt: 0,
    asked,
    outcome: { stopReason: askedBits(asked) },
  }
  // Between two tries of a start the host has no VM that could be shut down.
  if (life.retryAtMs !== undefined) return stayStopped(stop(wanted, nowMs))
  return { ...wanted, state: InstanceState.Stopping }
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
  return { ...life, ...nothingUnderWay, state: InstanceState.Running, outcome: undefined }
}

/** A boot ended that nobody wanted to end. */
export function endedByItself(life: Lifecycle, exit: ExitReport, nowMs: number): Lifecycle {
  if (exit.boot !== life.boot || life.retryAtMs !== undefined) return life
  const ran = endSequenceIfDue(addUptime(life, exit), exit.atMs)
  if (exit.cause === ExitCause.HostHalted) return begin(ran, StartOrigin.Platform)
  return restartOrStay(stop({ ...ran, outcome: stopOutcome(exit, undefined) }, exit.atMs), nowMs)
}

/** A boot ended as it was asked to; without `exit` the host never knew it. */
export function endedAsAsked(life: Lifecycle, exit: ExitReport | undefined, nowMs: number): Lifecycle {
  if (exit !== undefined && exit.boot !== life.boot) return life
  const ran = exit === undefined ? life : addUptime(life, exit)
  if (life.startAgain === true) return beginByHand(ran)
  return stayStopped(stop({ ...ran, outcome: stopOutcome(exit, life.asked) }, exit?.atMs ?? nowMs))
}

function addUptime(life: Lifecycle, exit: ExitReport): Lifecycle {
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

function stayStopped(life: Lifecycle): Lifecycle {
  return life.deleteOnStop ? { ...life, deletion: Deletion.Wanted } : life
}
