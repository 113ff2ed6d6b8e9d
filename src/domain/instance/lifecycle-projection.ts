import type { InstanceProjection } from './projection.ts'
import { InstanceState } from './state.ts'
import type { Lifecycle } from './lifecycle-state.ts'

/** What readers see of a lifecycle. */
export function projectionOf(life: Lifecycle): InstanceProjection {
  const { report, outcome } = life
  return {
    state: life.state,
    boot: life.boot,
    startCount: life.startCount,
    restartCount: life.restartCount,
    restartAttempt: life.restartAttempt,
    restartNextAtMs: life.restartAtMs,
    startedAtMs: report?.startedAtMs,
    stoppedAtMs: life.stoppedAtMs,
    uptimeMs: life.uptimeMs,
    bootTimeUs: report?.bootTimeUs,
    vmmStartTimeUs: report?.vmmStartTimeUs,
    vmmLoadTimeUs: report?.vmmLoadTimeUs,
    vmmReadyTimeUs: report?.vmmReadyTimeUs,
    netTimeUs: report?.netTimeUs,
    startKind: report?.kind,
    stopReason: outcome?.stopReason,
    exitCode: outcome?.exitCode,
    stopCode: outcome?.stopCode,
    failure: life.failure,
    failureKind: life.failureKind,
    snapshotUuid: life.state === InstanceState.Standby ? life.sleep?.snapshotUuid : undefined,
    launchedVersion: report?.configVersion,
    toldVersion: life.config?.version,
    restarting: startsAgain(life) ? true : undefined,
    standbyDisabled: speaksAgainstStandby(life) ? true : undefined,
    suspended: isSuspended(life) ? true : undefined,
    move: moveOf(life),
  }
}

/** The move that is under way, or else the one that failed last. */
function moveOf({ move, moveFailure }: Lifecycle): InstanceProjection['move'] {
  if (moveFailure !== undefined) {
    const { from, to, atMs: sinceMs, why: failure } = moveFailure
    return { from, to, sinceMs, failure, ...(move !== undefined && { step: move.step }) }
  }
  if (move === undefined) return undefined
  const { from, to, step, sinceMs, notCopied } = move
  return { from, to, step, sinceMs, ...(notCopied !== undefined && { notCopied }) }
}

/**
 * Whether the stop under way is followed by a start, so that who asks for the instance may wait for it. It is
 * shown only of instances that were changed once: workflows that began before changes existed wrote nothing
 * when a start came during a stop, and have to go on as they began.
 */
function startsAgain({ state, startAgain, config }: Lifecycle): boolean {
  const isEnding = state === InstanceState.Draining || state === InstanceState.Stopping
  return isEnding && startAgain === true && config !== undefined
}

/** Whether a user asked for the sleep of the instance, or for standby that it has not reached yet. */
function isSuspended({ state, suspend, sleep }: Lifecycle): boolean {
  return suspend !== undefined || (state === InstanceState.Standby && sleep?.suspended === true)
}

/**
 * Whether the application of the boot that runs now asks not to be put into standby. What an earlier boot
 * asked does not count.
 */
export function speaksAgainstStandby({ state, boot, disabledBoot }: Lifecycle): boolean {
  const runs = state === InstanceState.Running || state === InstanceState.Draining
  return runs && disabledBoot === boot
}
