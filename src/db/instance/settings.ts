import type { InstanceProjection } from '../../domain/instance/projection.ts'
import type { InstanceSettings } from '../../domain/instance/settings.ts'
import { scaleToZeroOf } from './row.ts'
import type { InstanceRow } from './row.ts'

export function workflowSettings(row: InstanceRow): InstanceSettings {
  const { uuid, name, userUuid, nodeId, autostart, deleteOnStop, restartPolicy, revision } = row
  const { configVersion: version, renewBelow, renewDrainMs: drainMs } = row
  const settings = {
    instanceUuid: uuid,
    name,
    userUuid,
    nodeId,
    autostart,
    deleteOnStop,
    restartPolicy,
    scaleToZero: scaleToZeroOf(row),
    ...(version > 0 && { config: { version, renewBelow, drainMs } }),
  }
  return revision === 0 ? settings : { ...settings, recorded: { revision, projection: projectionIn(row) } }
}

/**
 * The reverse of `recordInstance`: reads the projection from a row. If a field of the projection is missing
 * here, this file does not compile.
 */
function projectionIn(row: InstanceRow): InstanceProjection {
  return {
    state: row.state,
    boot: row.boot,
    startCount: row.startCount,
    restartCount: row.restartCount,
    restartAttempt: row.restartAttempt,
    restartNextAtMs: row.restartNextAt?.getTime(),
    startedAtMs: row.startedAt?.getTime(),
    stoppedAtMs: row.stoppedAt?.getTime(),
    uptimeMs: row.uptimeMs,
    bootTimeUs: row.bootTimeUs ?? undefined,
    vmmStartTimeUs: row.vmmStartTimeUs ?? undefined,
    vmmLoadTimeUs: row.vmmLoadTimeUs ?? undefined,
    vmmReadyTimeUs: row.vmmReadyTimeUs ?? undefined,
    netTimeUs: row.netTimeUs ?? undefined,
    startKind: row.startKind ?? undefined,
    stopReason: row.stopReason ?? undefined,
    exitCode: row.exitCode ?? undefined,
    stopCode: row.stopCode ?? undefined,
    failure: row.failure ?? undefined,
    failureKind: row.failureKind ?? undefined,
    snapshotUuid: row.snapshotUuid ?? undefined,
    launchedVersion: row.launchedVersion,
    toldVersion: row.toldVersion,
    restarting: row.restarting,
    standbyDisabled: row.standbyDisabled,
    suspended: row.suspended,
    move: row.move ?? undefined,
  } satisfies Record<keyof InstanceProjection, unknown>
}
