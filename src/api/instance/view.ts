import { pendingProperties } from '../../domain/instance/change.ts'
import { InstanceFeature } from '../../domain/instance/feature.ts'
import { InstanceState, isDown } from '../../domain/instance/state.ts'
import { parseImageReference, publicImageReference } from '../../domain/image/reference.ts'
import type { Usage } from '../../domain/instance/usage.ts'
import { mayStandBy } from '../../domain/standby/scale-to-zero.ts'
import { scaleToZeroOf } from '../../db/instance/row.ts'
import type { InstanceRow } from '../../db/instance/row.ts'
import type { AttachedService } from '../../db/service/row.ts'
import type { VolumeRow } from '../../db/volume/row.ts'
import type { OperationEntry } from '../../contract/operation.ts'
import type { getInstances } from '../../contract/instance/operations.ts'
import { presentAttached } from '../service/view.ts'
import { optionalTimestamp, timestamp } from '../timestamp.ts'
import { presentMount } from '../volume/view.ts'

type Details = OperationEntry<typeof getInstances>

/** What the API shows of an instance beyond its row. */
export interface InstanceView {
  readonly env: Readonly<Record<string, string>>
  readonly developer: boolean
  readonly admin: boolean
  readonly nowMs: number
  /** The service to which the instance is attached. It is absent if there is none. */
  readonly service?: AttachedService
  /** The volume of the instance. It is absent if there is none. */
  readonly volume?: Pick<VolumeRow, 'uuid' | 'name'>
  /** The instance of which this one is a clone. It is absent unless autoscale made the instance. */
  readonly master?: { readonly uuid: string; readonly name: string }
  /** The resource use. It is absent if it was not requested, or if the host does not answer. */
  readonly usage?: Usage
}

/** All fields of an instance. Fields that do not apply in its state are left out. */
export function presentInstance(row: InstanceRow, view: InstanceView): Details {
  return {
    uuid: row.uuid,
    name: row.name,
    created_at: timestamp(row.createdAt),
    state: row.state,
    image: presentImage(row.image),
    memory_mb: row.memoryMb,
    vcpus: row.vcpus,
    ...(row.args === null ? {} : { args: [...row.args] }),
    env: { ...view.env },
    start_count: row.startCount,
    restart_count: row.restartCount,
    ...optionalTimestamp('started_at', row.startedAt),
    ...optionalTimestamp('stopped_at', isDown(row.state) ? row.stoppedAt : null),
    uptime_ms: presentUptimeMs(row, view.nowMs),
    ...(row.bootTimeUs === null ? {} : { boot_time_us: row.bootTimeUs }),
    ...presentStop(row),
    restart_policy: row.restartPolicy,
    ...presentRestart(row),
    ...(row.deleteOnStop ? { features: [InstanceFeature.DeleteOnStop] } : {}),
    scale_to_zero: presentScaleToZero(row),
    tags: [...row.tags],
    ...presentUpdates(row, view.env),
    ...(row.snapshotUuid === null ? {} : { snapshot: { uuid: row.snapshotUuid } }),
    ...(row.failure === null ? {} : { failure: row.failure }),
    ...(view.service === undefined ? {} : { service_group: presentAttached(view.service) }),
    volumes: presentMount(row, view.volume),
    ...(view.master === undefined ? {} : { clone_of: { ...view.master } }),
    ...presentRollout(row),
    ...(view.admin ? { host: row.nodeId } : {}),
    private_fqdn: privateFqdn(row),
    private_ip: row.privateIp,
    network_interfaces: [presentNetwork(row, view.usage)],
    ...(view.usage === undefined ? {} : presentUsage(view.usage)),
    ...(view.developer ? presentStartTimes(row) : {}),
  }
}

export function privateFqdn(row: Pick<InstanceRow, 'name'>): string {
  return `${row.name}.internal`
}

function presentImage(image: string): string {
  const reference = parseImageReference(image)
  return reference === undefined ? image : publicImageReference(reference)
}

/** The uptime: the sum of the earlier runs, and the time of the present run so far. */
export function presentUptimeMs(row: InstanceRow, nowMs: number): number {
  const current = isUp(row.state) && row.startedAt !== null ? Math.max(0, nowMs - row.startedAt.getTime()) : 0
  return row.uptimeMs + current
}

function isRunning(state: InstanceState): boolean {
  return state === InstanceState.Running || state === InstanceState.Starting
}

function isUp(state: InstanceState): boolean {
  return (
    state === InstanceState.Running || state === InstanceState.Draining || state === InstanceState.Stopping
  )
}

/** The origin of a stop is shown while the stop is going on and until the next start. */
function presentStop(row: InstanceRow): Partial<Details> {
  if (isRunning(row.state)) return {}
  return {
    ...(row.stopReason === null ? {} : { stop_reason: row.stopReason }),
    ...(row.exitCode === null ? {} : { exit_code: row.exitCode }),
    ...(row.stopCode === null ? {} : { stop_code: row.stopCode }),
  }
}

/** The view of scale-to-zero. `enabled` is false while the instance itself speaks against standby. */
function presentScaleToZero(row: InstanceRow): NonNullable<Details['scale_to_zero']> {
  const { policy, cooldownMs, stateful } = scaleToZeroOf(row)
  const enabled = mayStandBy({ policy, cooldownMs, stateful }) && !row.standbyDisabled
  return { enabled, policy, cooldown_time_ms: cooldownMs, stateful }
}

function presentRestart(row: InstanceRow): Partial<Details> {
  if (row.restartAttempt === 0 && row.restartNextAt === null) return {}
  return { restart: { attempt: row.restartAttempt, ...optionalTimestamp('next_at', row.restartNextAt) } }
}

/** An old instance that a rollout keeps is with no service any more. */
function presentRollout({ rolloutUuid, serviceUuid }: InstanceRow): Partial<Details> {
  return rolloutUuid === null ? {} : { rollout: { uuid: rolloutUuid, is_new: serviceUuid !== null } }
}

/** The changes that wait for a restart, in the form that newer clients read. */
function presentUpdates(row: InstanceRow, env: InstanceView['env']): Partial<Details> {
  const waiting = pendingProperties(row)
  if (waiting.length === 0) return {}
  const { args, memoryMb, vcpus } = row
  const values = { image: presentImage(row.image), args, env, memory_mb: memoryMb, vcpus }
  return {
    updates: waiting.map((prop) => ({
      prop,
      op: 'set',
      value: values[prop] ?? undefined,
      status: 'pending',
    })),
  }
}

function presentNetwork(row: InstanceRow, usage: Usage | undefined) {
  return {
    uuid: row.networkUuid,
    private_ip: row.privateIp,
    mac: row.mac,
    ...(usage === undefined ? {} : presentTraffic(usage)),
  }
}

export function presentTraffic(usage: Usage) {
  return {
    rx_bytes: usage.rxBytes,
    rx_packets: usage.rxPackets,
    tx_bytes: usage.txBytes,
    tx_packets: usage.txPackets,
  }
}

export function presentLoad(usage: Usage) {
  return {
    nconns: usage.connections,
    nreqs: usage.requests,
    nqueued: usage.queued,
    ntotal: usage.handled,
  }
}

function presentUsage(usage: Usage): Partial<Details> {
  return { rss_bytes: usage.rssBytes, cpu_time_ms: usage.cpuTimeMs, ...presentLoad(usage) }
}

function presentStartTimes(row: InstanceRow): Partial<Details> {
  return {
    ...(row.vmmStartTimeUs === null ? {} : { vmm_start_time_us: row.vmmStartTimeUs }),
    ...(row.vmmLoadTimeUs === null ? {} : { vmm_load_time_us: row.vmmLoadTimeUs }),
    ...(row.vmmReadyTimeUs === null ? {} : { vmm_ready_time_us: row.vmmReadyTimeUs }),
    ...(row.netTimeUs === null ? {} : { net_time_us: row.netTimeUs }),
  }
}
