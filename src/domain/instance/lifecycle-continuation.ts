import type { InstanceProjection } from './projection.ts'
import { InstanceState } from './state.ts'
import { unstarted } from './lifecycle-rules.ts'
import type { LifecycleRules } from './lifecycle-rules.ts'
import { Deletion, isWithHosts, MoveStep } from './lifecycle-state.ts'
import { inStandby } from './lifecycle-standby.ts'
import type { Lifecycle, Sleep } from './lifecycle-state.ts'
import { maxSuspendDrainMs } from './lifecycle-suspend.ts'
import { StartKind } from './start-report.ts'
import type { StartReport } from './start-report.ts'
import { StopBit, StopOrigin } from './stop-reason.ts'
import type { AskedStop, StopOutcome } from './stop-reason.ts'

/** What the row of an instance last said. */
export interface RecordedLife {
  readonly revision: number
  readonly projection: InstanceProjection
}

/**
 * How many revisions the new life skips. The lost workflow may have decided more than its row shows, and
 * one of its writes may still be under way. Only the order of revisions has a meaning, so skipping some
 * costs nothing.
 */
export const revisionsLeftOut = 1_000
/** A boot number that no instance has, because boots are numbered from 1. */
const earlierBoot = 0

/**
 * The life of an instance whose workflow was lost, for example because a person terminated it. It begins with
 * what the row last said, and with a higher revision. Nobody heard what the host reported meanwhile. So if
 * the host should have something running, it is asked for the same boot again: it answers with what has
 * become of that boot, and starts nothing twice.
 *
 * If the instance was in standby, its host is ordered to stand by once more, and answers as the first time,
 * even after a wake. If the host refuses, the instance is started with a boot number above all that may have
 * been used. What no row holds is lost: that a start was to follow the stop under way, how long a drain was
 * to last, and the tries of a start.
 */
export function continuedLifecycle(rules: LifecycleRules, recorded: RecordedLife): Lifecycle {
  const { projection } = recorded
  const state = continuedStates[projection.state]
  const life: Lifecycle = {
    ...unstarted(rules),
    revision: recorded.revision + revisionsLeftOut,
    state,
    boot: projection.boot,
    startTries: state === InstanceState.Starting ? 1 : 0,
    startCount: projection.startCount,
    restartCount: projection.restartCount,
    restartAttempt: projection.restartAttempt,
    restartAtMs: projection.restartNextAtMs,
    uptimeMs: projection.uptimeMs,
    stoppedAtMs: projection.stoppedAtMs,
    report: reportOf(projection, state),
    outcome: outcomeOf(projection),
    failure: projection.failure,
    failureKind: projection.failureKind,
    asked: state === InstanceState.Stopping ? askedOf(projection) : undefined,
    suspend: state === InstanceState.Starting ? suspendOf(projection) : undefined,
  }
  const move = moveOf(rules, projection)
  if (state === InstanceState.Standby) return { ...inStandby(life, sleepOf(projection)), move }
  if (state === InstanceState.Stopped && move !== undefined) return { ...life, move }
  if (wasToGo(life)) return { ...life, deletion: Deletion.Wanted }
  return { ...life, permit: permitOf(life, projection), offer: offerOf(life, projection) }
}

/** Standby that a user asked for and that did not come yet. How long its drain was to last is lost. */
function suspendOf({ suspended, startedAtMs = 1 }: InstanceProjection): Lifecycle['suspend'] {
  return suspended === true ? { drainMs: maxSuspendDrainMs, atMs: startedAtMs } : undefined
}

/**
 * What is left of a move that was under way. The new host has the instance if the row names it, and else the
 * old one, which may hold it. Either way, only an instance that is down needs a word that it is free.
 */
function moveOf({ nodeId }: LifecycleRules, { move }: InstanceProjection): Lifecycle['move'] {
  if (move?.step === undefined || !isWithHosts(move.step)) return undefined
  const { from, to, sinceMs } = move
  const step = nodeId === to.nodeId ? MoveStep.Take : MoveStep.Release
  return { from, to, step, sinceMs, atMs: sinceMs }
}

/** The host may offer the volume of an instance that runs, for a move that is over with its workflow. */
function offerOf({ state }: Lifecycle, { boot, move }: InstanceProjection): Lifecycle['offer'] {
  const isBefore = move?.step !== undefined && !isWithHosts(move.step)
  const mayRun = state === InstanceState.Starting || state === InstanceState.Stopping
  return isBefore && mayRun ? { atMs: move.sinceMs, boot } : undefined
}

function sleepOf(projection: InstanceProjection): Sleep {
  const { boot, stoppedAtMs: sinceMs, snapshotUuid } = projection
  const suspended = projection.suspended === true ? true : undefined
  return { boot, sinceMs, outcome: outcomeOf(projection), snapshotUuid, suspended }
}

/**
 * The permit that the host may have: an order to stand by may have been under way when the workflow was lost,
 * and the host may have carried it out. Without scale-to-zero, only a user can have asked for standby.
 */
function permitOf(
  { scaleToZero, state, boot }: Lifecycle,
  { suspended }: InstanceProjection,
): number | undefined {
  const mayBeOrdered = scaleToZero !== undefined || suspended === true
  return mayBeOrdered && state !== InstanceState.Stopped ? boot + 1 : undefined
}

const continuedStates = {
  [InstanceState.Stopped]: InstanceState.Stopped,
  [InstanceState.Standby]: InstanceState.Standby,
  [InstanceState.Starting]: InstanceState.Starting,
  /** Until the host has confirmed that the boot still runs. */
  [InstanceState.Running]: InstanceState.Starting,
  /** The stop was accepted. Nobody knows what is still connected, so the drain is not repeated. */
  [InstanceState.Draining]: InstanceState.Stopping,
  [InstanceState.Stopping]: InstanceState.Stopping,
} satisfies Record<InstanceState, InstanceState>

/**
 * The report to continue with. If the host is asked again, it is left out, so that the host's new report
 * counts as new.
 */
function reportOf(projection: InstanceProjection, state: InstanceState): StartReport | undefined {
  const { startedAtMs } = projection
  if (startedAtMs === undefined) return undefined
  return {
    boot: state === InstanceState.Starting ? earlierBoot : projection.boot,
    kind: projection.startKind ?? StartKind.Boot,
    startedAtMs,
    bootTimeUs: projection.bootTimeUs ?? 0,
    vmmStartTimeUs: projection.vmmStartTimeUs ?? 0,
    vmmLoadTimeUs: projection.vmmLoadTimeUs ?? 0,
    vmmReadyTimeUs: projection.vmmReadyTimeUs ?? 0,
    netTimeUs: projection.netTimeUs,
    configVersion: projection.launchedVersion,
  }
}

function outcomeOf({ stopReason, exitCode, stopCode }: InstanceProjection): StopOutcome | undefined {
  return stopReason === undefined ? undefined : { stopReason, exitCode, stopCode }
}

function askedOf({ stopReason = 0 }: InstanceProjection): AskedStop {
  return { origin: StopOrigin.User, forced: (stopReason & StopBit.Forced) !== 0 }
}

/** Whether the workflow was lost between the instance's stop and the deletion that follows. */
function wasToGo(life: Lifecycle): boolean {
  const stopped = life.state === InstanceState.Stopped && life.boot > 0
  return life.deleteOnStop && stopped && life.restartAtMs === undefined
}
