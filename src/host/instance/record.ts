import type { ExitReport } from '../../domain/instance/exit-report.ts'
import { StartKind } from '../../domain/instance/start-report.ts'
import type { StartReport } from '../../domain/instance/start-report.ts'
import { noUsage } from '../../domain/instance/usage.ts'
import type { Usage } from '../../domain/instance/usage.ts'
import type { HostFailure, StandByResult, StartResult } from '../../domain/instance/host-work.ts'
import type { NicCounters, NicSpec } from '../network/network.ts'

/**
 * What a host knows of an instance's newest boot, on disk in the instance's directory. It is written before
 * the VM is asked for, so a VM without a record is nobody's. The fields tell how far the boot came:
 *
 *   no `started`, no `exit`    on its way, or failed before there was a VM: nothing to report
 *   `started`, no `exit`       the VM ran when this was written
 *   `exit`                     over; `reported` once the instance's workflow has taken it
 *
 * and `standby` tells of a boot that was ordered to sleep, until the next one was stopped or went to standby
 * itself:
 *
 *   `boot` is its, no `atMs`   the order is being carried out
 *   `boot` is its, `atMs`      asleep, with the permit
 *   `boot` is the permit's     woken where it has `started` or `exit`; else on its way, or failed, and the permit is still there
 */
export interface InstanceRecord {
  readonly version: 1
  readonly instanceUuid: string
  readonly boot: number
  /** Of the machine, when the boot began: a VM does not survive a change of it. */
  readonly hostBootId: string
  readonly nic: NicSpec
  readonly imageDigest: string
  /** What the VM or the memory of this boot has: it holds that on disk, beside the volume. */
  readonly volume?: { readonly uuid: string; readonly readonly: boolean }
  /** What the attachment had counted before this boot. */
  readonly nicBase?: NicCounters
  readonly started?: StartReport
  /**
   * More became known of the start than its caller was told, and the instance's workflow has not taken it
   * yet.
   */
  readonly startDue?: boolean
  readonly exit?: ExitReport
  readonly reported: boolean
  /** The boot with which the guest's memory began, where that is an earlier one. */
  readonly memoryBoot?: number
  readonly standby?: Standby
  /** Traffic used the permit then, and the instance's workflow does not know yet. */
  readonly wakingDueMs?: number
  /** What the instance's workflow knows of the guest's word about standby; absent: that it suits it. */
  readonly disabledTold?: boolean
  /** Boots up to this one were stopped before they were known here. */
  readonly stoppedThrough?: number
  /** Of all earlier boots. */
  readonly usageBefore: Usage
  /** Of this boot, as last sampled; exact once it ended. */
  readonly usageOfBoot: Usage
}

export interface Standby {
  /** Which boot was sent there; 0: none, the instance never ran. */
  readonly boot: number
  readonly permit: number
  readonly stateful: boolean
  readonly graceMs: number
  /** Since when it sleeps. */
  readonly atMs?: number
  /** How the boot ended that went, where it ended. */
  readonly exit?: ExitReport
  readonly snapshotUuid?: string
  readonly wakeFailure?: {
    readonly count: number
    readonly failure: HostFailure
    readonly message: string
    readonly retryAtMs: number
    /** The instance's workflow does not know yet. */
    readonly due: boolean
  }
}

export function newRecord(
  boot: Pick<InstanceRecord, 'instanceUuid' | 'boot' | 'hostBootId' | 'nic' | 'imageDigest'>,
  previous: InstanceRecord | undefined,
): InstanceRecord {
  return {
    version: 1,
    ...boot,
    reported: false,
    ...(previous?.stoppedThrough === undefined ? {} : { stoppedThrough: previous.stoppedThrough }),
    usageBefore: usageBefore(boot.boot, previous),
    usageOfBoot: noUsage,
  }
}

/** A repeated attempt of the same boot starts its own count again; an earlier boot's is kept for ever. */
function usageBefore(boot: number, previous: InstanceRecord | undefined): Usage {
  if (previous === undefined) return noUsage
  return previous.boot === boot ? previous.usageBefore : totalUsage(previous)
}

/**
 * With what the VMM knows of the start by now: the first socket may listen long after the start was reported.
 */
export function withStart(record: InstanceRecord, known: StartReport | undefined): InstanceRecord {
  const { started } = record
  if (known === undefined || started?.netTimeUs !== undefined) return record
  if (started === undefined) return withoutOldMemory({ ...record, started: known })
  const { netTimeUs } = known
  return netTimeUs === undefined ? record : { ...record, started: { ...started, netTimeUs }, startDue: true }
}

/** The memory goes on only where the snapshot was really used. */
function withoutOldMemory(record: InstanceRecord & { readonly started: StartReport }): InstanceRecord {
  if (record.started.kind === StartKind.Restore) return record
  const { memoryBoot: _began, ...rest } = record
  return rest
}

/** Over all boots; memory is that of the last sample, which is 0 once the VM ended. */
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
 * The next boot goes on from a memory. One that ended on its way to standby has left none, whatever lies
 * there.
 */
export function memoryWaits({ standby }: InstanceRecord): boolean {
  return standby !== undefined && standby.stateful && standby.boot !== 0 && standby.exit === undefined
}

/** The VM's life as it may be seen from outside: for metrics and for what has to be looked after. */
export function runs(
  record: InstanceRecord | undefined,
): record is InstanceRecord & { readonly started: StartReport } {
  return record?.started !== undefined && record.exit === undefined && !isAsleep(record)
}

/** An order to stand by is being carried out on this boot. */
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

/** The boot that this host may start by itself; it stays until that boot came up. */
export function permitOf(record: InstanceRecord | undefined): number | undefined {
  const { standby } = record ?? {}
  if (record === undefined || standby?.atMs === undefined) return undefined
  const isUnused = record.boot === standby.permit && record.started === undefined && record.exit === undefined
  return isAsleep(record) || isUnused ? standby.permit : undefined
}

export function memoryBootOf(record: InstanceRecord): number {
  return record.memoryBoot ?? record.boot
}

/** What its order is answered with, as often as it is asked, also after the wake. */
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

/** The boot that was last sent to standby and arrived there, and how that went. */
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
