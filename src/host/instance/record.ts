import type { ExitReport } from '../../domain/instance/exit-report.ts'
import { StartKind } from '../../domain/instance/start-report.ts'
import type { StartReport } from '../../domain/instance/start-report.ts'
import { noUsage, withWake } from '../../domain/instance/usage.ts'
import type { Usage, Wakes } from '../../domain/instance/usage.ts'
import type {
  FetchResult,
  HostFailure,
  MovedVolume,
  MovePlace,
  StandByResult,
  StartResult,
} from '../../domain/instance/host-work.ts'
import type { LaunchSpec } from '../../domain/host/api-protocol.ts'
import type { NicCounters, NicSpec } from '../network/network.ts'
import type { VmVolume } from '../vmm/vmm.ts'

/**
 * What a host knows of an instance's newest boot, on disk in the instance's directory. It is written before
 * the VM is asked for, so a VM without a record belongs to no instance. The fields tell how far the boot
 * came:
 *
 *   no `started`, no `exit`    on its way, or failed before there was a VM: nothing to report
 *   `started`, no `exit`       the VM ran when this was written
 *   `exit`                     over; `reported` once the instance's workflow has taken it
 *
 * `standby` describes a boot that was ordered to sleep. It stays while the permit's boot runs and after that
 * boot has ended, so that a repeated order gets the same answer. A later boot, a new order or a stop of the
 * sleeping instance ends it. The record's `boot` tells how far the order and the wake came:
 *
 *   `boot` slept, no `atMs`    the order is being carried out
 *   `boot` slept, `atMs`       asleep, with the permit
 *   `boot` is the permit's     woken if it has `started` or `exit`; else on its way, or failed, and the permit is still there
 */
export interface InstanceRecord {
  readonly version: 1
  readonly instanceUuid: string
  readonly boot: number
  /** The machine's boot when this boot began. A VM does not survive another boot of the machine. */
  readonly hostBootId: string
  readonly nic: NicSpec
  readonly imageDigest: string
  /** The volume that the VM or the memory of this boot has. The hold itself is on disk beside the volume. */
  readonly volume?: { readonly uuid: string; readonly readonly: boolean }
  /** What the network attachment had counted before this boot. */
  readonly nicBase?: NicCounters
  /** The version of the configuration that this boot is launched with. Absent: 0. */
  readonly configVersion?: number
  readonly started?: StartReport
  /**
   * More became known of the start after its caller was answered, and the instance's workflow was not told
   * yet.
   */
  readonly startDue?: boolean
  readonly exit?: ExitReport
  readonly reported: boolean
  /** The boot with which the guest's memory began, if that is an earlier one. */
  readonly memoryBoot?: number
  readonly standby?: Standby
  /**
   * Present while the instance is held here, because it moves between hosts. It sleeps or is stopped then, or
   * is on its way to standby. The record of a new boot does not have it.
   */
  readonly move?: Move
  /** When traffic used the permit. Present until the instance's workflow knows. */
  readonly wakingDueMs?: number
  /**
   * Whether the guest speaks against standby, as the workflow was last told. Absent means that it does not.
   */
  readonly disabledTold?: boolean
  /** Boots up to this one were stopped before they were known here. */
  readonly stoppedThrough?: number
  /** Over all boots. Absent if the instance was never woken. */
  readonly wakes?: Wakes
  /** The usage of all earlier boots. */
  readonly usageBefore: Usage
  /** The usage of this boot at the last sample. Exact once the boot has ended. */
  readonly usageOfBoot: Usage
}

export interface Standby {
  /** The boot that was sent to standby; 0 if the instance never ran. */
  readonly boot: number
  readonly permit: number
  readonly stateful: boolean
  readonly graceMs: number
  /** When it fell asleep. Absent while the order is being carried out. */
  readonly atMs?: number
  /** How the boot that was sent to standby ended, if it ended. */
  readonly exit?: ExitReport
  readonly snapshotUuid?: string
  readonly wakeFailure?: {
    readonly count: number
    readonly failure: HostFailure
    readonly message: string
    readonly retryAtMs: number
    /** The instance's workflow was not told yet. */
    readonly due: boolean
  }
}

/**
 * How far a move is. `holdUuid` names the hold: what was fetched of an earlier hold is worthless, because the
 * instance may have run since.
 */
export type Move =
  /** It moves from here. At `port` this host lets the new one fetch it. */
  | {
      readonly role: 'old'
      readonly to: MovePlace
      readonly holdUuid: string
      readonly port?: number
      /** The volume that moves with it. This host holds it, too. */
      readonly volume?: MovedVolume
    }
  /** It was fetched. Whether it is this host's is not known yet. */
  | {
      readonly role: 'new'
      readonly from: MoveSource
      readonly holdUuid: string
      /** Its volume waits beside the others, and nobody can use it. */
      readonly fetched: FetchResult
    }

/** Where an instance is fetched from. */
export type MoveSource = MovePlace & { readonly port: number }

export function newRecord(
  boot: Pick<InstanceRecord, 'instanceUuid' | 'boot' | 'hostBootId' | 'nic' | 'imageDigest'>,
  previous: InstanceRecord | undefined,
): InstanceRecord {
  return {
    version: 1,
    ...boot,
    reported: false,
    ...(previous?.stoppedThrough === undefined ? {} : { stoppedThrough: previous.stoppedThrough }),
    ...(previous?.wakes === undefined ? {} : { wakes: previous.wakes }),
    usageBefore: usageBefore(boot.boot, previous),
    usageOfBoot: noUsage,
  }
}

/** The record of a boot that begins with this launch spec. */
export function firstRecord(
  spec: LaunchSpec,
  { boot, hostBootId }: Pick<InstanceRecord, 'boot' | 'hostBootId'>,
  previous: InstanceRecord | undefined,
): InstanceRecord {
  const { uuid: instanceUuid } = spec
  const nic = nicOf(spec)
  return withLaunch(newRecord({ instanceUuid, boot, hostBootId, nic, imageDigest: '' }, previous), spec)
}

export function nicOf({
  uuid: instanceUuid,
  userUuid,
  privateIp: ip,
  seatIp: seat,
  mac,
}: LaunchSpec): NicSpec {
  return { instanceUuid, userUuid, ip, ...(seat !== undefined && { seat }), mac }
}

/**
 * The usage of all boots before this one. A repeated attempt of the same boot counts its own usage from zero
 * again and keeps this sum.
 */
function usageBefore(boot: number, previous: InstanceRecord | undefined): Usage {
  if (previous === undefined) return noUsage
  return previous.boot === boot ? previous.usageBefore : totalUsage(previous)
}

/**
 * Adds what the VMM knows of the start by now. The first socket may listen long after the start was
 * reported.
 */
export function withStart(record: InstanceRecord, known: StartReport | undefined): InstanceRecord {
  const { started } = record
  if (known === undefined || started?.netTimeUs !== undefined) return record
  if (started === undefined) return withoutOldMemory({ ...record, started: withVersion(known, record) })
  const { netTimeUs } = known
  return netTimeUs === undefined ? record : { ...record, started: { ...started, netTimeUs }, startDue: true }
}

/** The report of a start for the workflow. The VMM does not know the version of the configuration. */
export function withVersion(
  report: StartReport,
  { configVersion }: Pick<InstanceRecord, 'configVersion'>,
): StartReport {
  return configVersion === undefined ? report : { ...report, configVersion }
}

/** The same for a start that was a wake, which is counted. */
export function withWoken(record: InstanceRecord, known: StartReport, wakeMs: number): InstanceRecord {
  return { ...withStart(record, known), wakes: withWake(record.wakes, known.kind, wakeMs) }
}

/** Drops `memoryBoot` unless the snapshot was used: otherwise the memory is new. */
function withoutOldMemory(record: InstanceRecord & { readonly started: StartReport }): InstanceRecord {
  if (record.started.kind === StartKind.Restore) return record
  const { memoryBoot: _began, ...rest } = record
  return rest
}

export function digestOf({ image }: Pick<LaunchSpec, 'image'>): string {
  return image.slice(image.indexOf('@') + 1)
}

/** The record with what its boot is launched with. */
export function withLaunch(record: InstanceRecord, spec: LaunchSpec): InstanceRecord {
  const { configVersion } = spec
  return { ...record, imageDigest: digestOf(spec), ...(configVersion === undefined ? {} : { configVersion }) }
}

export function withVolume(
  record: InstanceRecord,
  volume: Pick<VmVolume, 'uuid' | 'readonly'> | undefined,
): InstanceRecord {
  if (volume === undefined) return record
  return { ...record, volume: { uuid: volume.uuid, readonly: volume.readonly } }
}

/** The usage of all boots. The memory is that of the last sample, and 0 once the VM has ended. */
export function totalUsage(record: InstanceRecord): Usage {
  const { usageBefore, usageOfBoot } = record
  return {
    rssBytes: runs(record) ? usageOfBoot.rssBytes : 0,
    cpuTimeMs: usageBefore.cpuTimeMs + usageOfBoot.cpuTimeMs,
    rxBytes: usageBefore.rxBytes + usageOfBoot.rxBytes,
    rxPackets: usageBefore.rxPackets + usageOfBoot.rxPackets,
    txBytes: usageBefore.txBytes + usageOfBoot.txBytes,
    txPackets: usageBefore.txPackets + usageOfBoot.txPackets,
    connections: usageOfBoot.connections,
    requests: usageOfBoot.requests,
    queued: usageOfBoot.queued,
    handled: usageBefore.handled + usageOfBoot.handled,
  }
}

/**
 * Whether the next boot continues from a memory. A boot that ended on its way to standby has left none, even
 * if there is a snapshot.
 */
export function memoryWaits({ standby }: InstanceRecord): boolean {
  return standby !== undefined && standby.stateful && standby.boot !== 0 && standby.exit === undefined
}

/**
 * Whether the VM runs. A boot that is on its way to standby still counts; an instance that sleeps does not.
 */
export function runs(
  record: InstanceRecord | undefined,
): record is InstanceRecord & { readonly started: StartReport } {
  return record?.started !== undefined && record.exit === undefined && !isAsleep(record)
}

/** Whether an order to stand by is being carried out on this boot. */
export function goesToSleep(
  record: InstanceRecord | undefined,
): record is InstanceRecord & { readonly standby: Standby } {
  return (
    record?.standby !== undefined && record.standby.boot === record.boot && record.standby.atMs === undefined
  )
}

function isAsleep({ standby, boot }: InstanceRecord): boolean {
  return standby?.atMs !== undefined && standby.boot === boot
}

/** The boot that this host may start by itself. The permit stays until that boot has come up. */
export function permitOf(record: InstanceRecord | undefined): number | undefined {
  const { standby } = record ?? {}
  if (record === undefined || standby?.atMs === undefined) return undefined
  const isUnused = record.boot === standby.permit && record.started === undefined && record.exit === undefined
  return isAsleep(record) || isUnused ? standby.permit : undefined
}

/** The record of a sleeping instance whose memory is not kept any more: the permit's boot begins afresh. */
export function withoutMemory(record: InstanceRecord): InstanceRecord {
  if (record.standby === undefined) return record
  const { snapshotUuid: _dropped, ...standby } = record.standby
  return { ...record, standby: { ...standby, stateful: false } }
}

/**
 * Whether the instance is held here with a volume, which its new host reads even if the instance is
 * stopped.
 */
export function volumeMoves(record: InstanceRecord | undefined): boolean {
  return record?.move?.role === 'old' && record.move.volume !== undefined
}

/** The volume that was fetched with an instance that waits to become this host's. */
export function fetchedVolume(record: InstanceRecord | undefined): string | undefined {
  return record?.move?.role === 'new' ? record.move.fetched.volumeUuid : undefined
}

/** The record of an instance that is not held any more. */
export function released(record: InstanceRecord): InstanceRecord {
  const { move: _over, ...rest } = record
  return rest
}

export function memoryBootOf(record: InstanceRecord): number {
  return record.memoryBoot ?? record.boot
}

/** The answer to an order to stand by. It is the same for each repeat of the order, also after the wake. */
export function standByResult(
  record: InstanceRecord | undefined,
  order: { readonly boot: number; readonly permit: number },
): StandByResult | undefined {
  const sleep = sleepOf(record)
  if (sleep === undefined || sleep.boot !== order.boot || sleep.slept.permit !== order.permit)
    return undefined
  const { permit: _known, ...slept } = sleep.slept
  return { slept: true, ...slept }
}

/** The boot that last reached standby, and how that went. */
export function sleepOf(
  record: InstanceRecord | undefined,
): { readonly boot: number; readonly slept: NonNullable<StartResult['slept']> } | undefined {
  const { standby } = record ?? {}
  if (standby?.atMs === undefined) return undefined
  const { boot, permit, atMs, exit, snapshotUuid } = standby
  const how = {
    ...(exit === undefined ? {} : { exit }),
    ...(snapshotUuid === undefined ? {} : { snapshotUuid }),
  }
  return { boot, slept: { permit, atMs, ...how } }
}
