import type { RecordedLife } from '../domain/lifecycle-continuation.ts'
import type { InstanceProjection } from '../domain/instance-projection.ts'
import type { RestartPolicy } from '../domain/restart-policy.ts'
import type { InstanceRow } from './instance-row.ts'

/** What the workflow of an instance is started with, should it not run. */
export interface WorkflowSettings {
  readonly instanceUuid: string
  readonly name: string
  readonly userUuid: string
  readonly nodeId: string
  readonly autostart: boolean
  readonly deleteOnStop: boolean
  readonly restartPolicy: RestartPolicy
  /** Absent where no workflow has written the row yet: it says what it was inserted with. */
  readonly recorded?: RecordedLife
}

export function workflowSettings(row: InstanceRow): WorkflowSettings {
  const { uuid, name, userUuid, nodeId, autostart, deleteOnStop, restartPolicy, revision } = row
  const settings = { instanceUuid: uuid, name, userUuid, nodeId, autostart, deleteOnStop, restartPolicy }
  return revision === 0 ? settings : { ...settings, recorded: { revision, projection: projectionIn(row) } }
}

/** The way back from `recordInstance`. Total: a field of the projection that is not read here does not compile. */
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
  } satisfies Record<keyof InstanceProjection, unknown>
}
