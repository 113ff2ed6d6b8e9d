import type { InstanceProjection } from './projection.ts'
import { InstanceState } from './state.ts'
import { Deletion, unstarted } from './lifecycle-state.ts'
import { inStandby } from './lifecycle-standby.ts'
import type { Lifecycle, LifecycleRules, Sleep } from './lifecycle-state.ts'
import { StartKind } from './start-report.ts'
import type { StartReport } from './start-report.ts'
import { StopBit, StopOrigin } from './stop-reason.ts'
import type { AskedStop, StopOutcome } from './stop-reason.ts'

/** What the row of an instance said last. */
export interface RecordedLife {
  readonly revision: number
  readonly projection: InstanceProjection
}

/**
 * The workflow that was lost may have decided more than its row got to know, and a write of its may still be
 * under way. Revisions have no meaning but their order, so leaving some out costs nothing.
 */
export const revisionsLeftOut = 1_000
/** A report's boot that is no instance's: the host numbers from 1. */
const earlierBoot = 0

/**
 * The life of an instance whose workflow was lost, as when a person terminated it: what its row said last,
 * and above its revision. Nobody heard what the host reported meanwhile, so a host that should have something
 * running is asked again for the same boot: it answers with what has become of it, and starts nothing twice.
 *
 * What was in standby is ordered there once more, which its host answers as the first time, even after a
 * wake; where that is not so it is started with a boot above all that there may have been. Lost is what no
 * row has: that a start was to follow a stop under way, how long a drain was to last, tries of a start.
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
  }
  if (state === InstanceState.Standby) return inStandby(life, sleepOf(projection))
  return wasToGo(life) ? { ...life, deletion: Deletion.Wanted } : { ...life, permit: permitOf(life) }
}

function sleepOf(projection: InstanceProjection): Sleep {
  const { boot, stoppedAtMs: sinceMs, snapshotUuid } = projection
  return { boot, sinceMs, outcome: outcomeOf(projection), snapshotUuid }
}

/**
 * An order to stand by may have been under way when the workflow was lost, and the host may have carried it
 * out.
 */
function permitOf({ scaleToZero, state, boot }: Lifecycle): number | undefined {
  return scaleToZero === undefined || state === InstanceState.Stopped ? undefined : boot + 1
}

const continuedStates = {
  [InstanceState.Stopped]: InstanceState.Stopped,
  [InstanceState.Standby]: InstanceState.Standby,
  [InstanceState.Starting]: InstanceState.Starting,
  /** Until the host has said that it still does. */
  [InstanceState.Running]: InstanceState.Starting,
  /** The stop was accepted, and nothing that could be connected is known. */
  [InstanceState.Draining]: InstanceState.Stopping,
  [InstanceState.Stopping]: InstanceState.Stopping,
} satisfies Record<InstanceState, InstanceState>

/** Where the host is asked again, its report has to count as new. */
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
  }
}

function outcomeOf({ stopReason, exitCode, stopCode }: InstanceProjection): StopOutcome | undefined {
  return stopReason === undefined ? undefined : { stopReason, exitCode, stopCode }
}

function askedOf({ stopReason = 0 }: InstanceProjection): AskedStop {
  return { origin: StopOrigin.User, forced: (stopReason & StopBit.Forced) !== 0 }
}

/** It was lost between its stop and the deletion that follows. */
function wasToGo(life: Lifecycle): boolean {
  const stopped = life.state === InstanceState.Stopped && life.boot > 0
  return life.deleteOnStop && stopped && life.restartAtMs === undefined
}
