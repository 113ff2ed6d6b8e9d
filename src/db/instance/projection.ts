import type { InstanceProjection } from '../../domain/instance/projection.ts'
import type { Database } from '../database.ts'
import { notifyInstanceSql } from './channel.ts'

/**
 * Writes what the workflow decided and tells whoever waits. A revision that is not greater than the row's is
 * older news, or a repeat, and changes nothing; so is one about an instance that is gone. Returns whether it
 * was written. Once the state is a live one, a reservation has served: it ends with the next stop instead of
 * outliving it.
 */
export async function recordInstance(
  database: Database,
  instance: { readonly uuid: string; readonly revision: number },
  projection: InstanceProjection,
): Promise<boolean> {
  const [written] = await database.rows<{ count: number }>({
    name: 'record-instance',
    text: recordSql,
    values: [
      instance.uuid,
      instance.revision,
      ...projectionColumns.map(([, read]) => read(projection) ?? null),
    ],
  })
  return written !== undefined && written.count > 0
}

type ColumnValue = string | number | boolean | Date | undefined

/** Total over the projection: a field without a column does not compile. */
const columnOf: Readonly<
  Record<keyof InstanceProjection, readonly [string, (p: InstanceProjection) => ColumnValue]>
> = {
  state: ['state', (p) => p.state],
  boot: ['boot', (p) => p.boot],
  startCount: ['start_count', (p) => p.startCount],
  restartCount: ['restart_count', (p) => p.restartCount],
  restartAttempt: ['restart_attempt', (p) => p.restartAttempt],
  restartNextAtMs: ['restart_next_at', (p) => moment(p.restartNextAtMs)],
  startedAtMs: ['started_at', (p) => moment(p.startedAtMs)],
  stoppedAtMs: ['stopped_at', (p) => moment(p.stoppedAtMs)],
  uptimeMs: ['uptime_ms', (p) => p.uptimeMs],
  bootTimeUs: ['boot_time_us', (p) => p.bootTimeUs],
  vmmStartTimeUs: ['vmm_start_time_us', (p) => p.vmmStartTimeUs],
  vmmLoadTimeUs: ['vmm_load_time_us', (p) => p.vmmLoadTimeUs],
  vmmReadyTimeUs: ['vmm_ready_time_us', (p) => p.vmmReadyTimeUs],
  netTimeUs: ['net_time_us', (p) => p.netTimeUs],
  startKind: ['start_kind', (p) => p.startKind],
  stopReason: ['stop_reason', (p) => p.stopReason],
  exitCode: ['exit_code', (p) => p.exitCode],
  stopCode: ['stop_code', (p) => p.stopCode],
  failure: ['failure', (p) => p.failure],
  failureKind: ['failure_kind', (p) => p.failureKind],
  snapshotUuid: ['snapshot_uuid', (p) => p.snapshotUuid],
  standbyDisabled: ['standby_disabled', (p) => p.standbyDisabled ?? false],
}
const projectionColumns = Object.values(columnOf)

const assignments = projectionColumns.map(([column], index) => `${column} = $${index + 3}`).join(', ')
const recordSql = `
  with changed as (update instances set revision = $2, ${assignments},
      state_since = case when state = $3 then state_since else now() end,
      live_reserved_until = case when $3 = 'stopped' then live_reserved_until end,
      workflow_started_at = coalesce(workflow_started_at, now())
    where uuid = $1 and revision < $2 returning uuid)
  ${notifyInstanceSql('changed')}`

function moment(ms: number | undefined): Date | undefined {
  return ms === undefined ? undefined : new Date(ms)
}
