import type { HostFailure } from '../../domain/instance/host-work.ts'
import type { InstanceState } from '../../domain/instance/state.ts'
import type { RestartPolicy } from '../../domain/instance/restart-policy.ts'
import type { ScaleToZero, ScaleToZeroPolicy } from '../../domain/standby/scale-to-zero.ts'
import type { StartKind } from '../../domain/instance/start-report.ts'
import type { SecretBox } from '../secret-box.ts'

/** One instance as readers get it. */
export interface InstanceRow {
  readonly uuid: string
  readonly position: number
  readonly userUuid: string
  readonly nodeId: string
  readonly name: string
  readonly createdAt: Date
  /** `<repository>@sha256:<hex>` with the repository as the registry knows it. */
  readonly image: string
  readonly memoryMb: number
  readonly vcpus: number
  readonly args: readonly string[] | null
  /** Opened by `openEnv`. */
  readonly envSealed: string
  readonly autostart: boolean
  readonly deleteOnStop: boolean
  readonly restartPolicy: RestartPolicy
  /** Of the instance's one network interface. */
  readonly networkUuid: string
  readonly privateIp: string
  readonly mac: string
  readonly revision: number
  readonly state: InstanceState
  readonly boot: number
  readonly startCount: number
  readonly restartCount: number
  readonly restartAttempt: number
  readonly restartNextAt: Date | null
  readonly startedAt: Date | null
  readonly stoppedAt: Date | null
  /** Of the runs that ended; add the time since `startedAt` while it runs. */
  readonly uptimeMs: number
  readonly bootTimeUs: number | null
  readonly vmmStartTimeUs: number | null
  readonly vmmLoadTimeUs: number | null
  readonly vmmReadyTimeUs: number | null
  readonly netTimeUs: number | null
  readonly startKind: StartKind | null
  readonly stopReason: number | null
  readonly exitCode: number | null
  readonly stopCode: number | null
  readonly failure: string | null
  readonly failureKind: HostFailure | null
  readonly serviceUuid: string | null
  readonly standbyPolicy: ScaleToZeroPolicy
  readonly standbyCooldownMs: number
  readonly standbyStateful: boolean
  readonly snapshotUuid: string | null
  readonly standbyDisabled: boolean
  readonly volumeUuid: string | null
  readonly volumeAt: string | null
  readonly volumeReadonly: boolean
  /** The master that autoscale made it of. */
  readonly cloneOf: string | null
  /** Since then autoscale gives it back. */
  readonly retiredAt: Date | null
}

/** Total, so that a field without a column does not compile. */
const columns: Readonly<Record<keyof InstanceRow, string>> = {
  uuid: 'uuid',
  position: 'position',
  userUuid: 'user_uuid',
  nodeId: 'node_id',
  name: 'name',
  createdAt: 'created_at',
  image: 'image',
  memoryMb: 'memory_mb',
  vcpus: 'vcpus',
  args: 'args',
  envSealed: 'env_sealed',
  autostart: 'autostart',
  deleteOnStop: 'delete_on_stop',
  restartPolicy: 'restart_policy',
  networkUuid: 'network_uuid',
  privateIp: 'private_ip',
  mac: 'mac',
  revision: 'revision',
  state: 'state',
  boot: 'boot',
  startCount: 'start_count',
  restartCount: 'restart_count',
  restartAttempt: 'restart_attempt',
  restartNextAt: 'restart_next_at',
  startedAt: 'started_at',
  stoppedAt: 'stopped_at',
  uptimeMs: 'uptime_ms',
  bootTimeUs: 'boot_time_us',
  vmmStartTimeUs: 'vmm_start_time_us',
  vmmLoadTimeUs: 'vmm_load_time_us',
  vmmReadyTimeUs: 'vmm_ready_time_us',
  netTimeUs: 'net_time_us',
  startKind: 'start_kind',
  stopReason: 'stop_reason',
  exitCode: 'exit_code',
  stopCode: 'stop_code',
  failure: 'failure',
  failureKind: 'failure_kind',
  serviceUuid: 'service_uuid',
  standbyPolicy: 'standby_policy',
  standbyCooldownMs: 'standby_cooldown_ms',
  standbyStateful: 'standby_stateful',
  snapshotUuid: 'snapshot_uuid',
  standbyDisabled: 'standby_disabled',
  volumeUuid: 'volume_uuid',
  volumeAt: 'volume_at',
  volumeReadonly: 'volume_readonly',
  cloneOf: 'clone_of',
  retiredAt: 'retired_at',
}

/** The select list whose rows are `InstanceRow`. */
export const instanceColumns = Object.entries(columns)
  .map(([field, column]) => `${column} as "${field}"`)
  .join(', ')

const moments = ['createdAt', 'restartNextAt', 'startedAt', 'stoppedAt', 'retiredAt'] as const
const longs = [
  'position',
  'revision',
  'uptimeMs',
  'bootTimeUs',
  'vmmStartTimeUs',
  'vmmLoadTimeUs',
  'vmmReadyTimeUs',
  'netTimeUs',
  'stopCode',
] as const

type Told = (typeof moments)[number] | (typeof longs)[number]

/** A row as a transaction reads it, in which the driver answers moments and 64-bit integers as texts. */
export type ToldInstance = Omit<InstanceRow, Told> & Readonly<Record<Told, string | null>>

export function instanceRow(told: ToldInstance): InstanceRow {
  const read = Object.fromEntries([
    ...moments.map((key) => [key, told[key] === null ? null : new Date(told[key])] as const),
    ...longs.map((key) => [key, told[key] === null ? null : Number(told[key])] as const),
  ]) as Pick<InstanceRow, Told>
  return { ...told, ...read }
}

export function scaleToZeroOf(
  row: Pick<InstanceRow, 'standbyPolicy' | 'standbyCooldownMs' | 'standbyStateful'>,
): ScaleToZero {
  return { policy: row.standbyPolicy, cooldownMs: row.standbyCooldownMs, stateful: row.standbyStateful }
}

/** The environment variables of an instance, in clear. */
export function openEnv(
  box: SecretBox,
  row: Pick<InstanceRow, 'uuid' | 'envSealed'>,
): Readonly<Record<string, string>> {
  return JSON.parse(box.open(row.envSealed, envContext(row.uuid))) as Record<string, string>
}

export function sealEnv(box: SecretBox, uuid: string, env: Readonly<Record<string, string>>): string {
  return box.seal(JSON.stringify(env), envContext(uuid))
}

function envContext(uuid: string): string {
  return `instance-env/${uuid}`
}
