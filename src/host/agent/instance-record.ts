import type { ExitReport } from '../../domain/exit-report.ts'
import type { StartReport } from '../../domain/start-report.ts'
import { noUsage } from '../../domain/usage.ts'
import type { Usage } from '../../domain/usage.ts'
import type { NicCounters, NicSpec } from '../network/network.ts'

/**
 * What a host knows of an instance's newest boot, on disk in the instance's directory. It is written before the VM is asked
 * for, so a VM without a record is nobody's. The fields tell how far the boot came:
 *
 *   no `started`, no `exit`    on its way, or failed before there was a VM: nothing to report
 *   `started`, no `exit`       the VM ran when this was written
 *   `exit`                     over; `reported` once the instance's workflow has taken it
 */
export interface InstanceRecord {
  readonly version: 1
  readonly instanceUuid: string
  readonly boot: number
  /** Of the machine, when the boot began: a VM does not survive a change of it. */
  readonly hostBootId: string
  readonly nic: NicSpec
  readonly imageDigest: string
  /** What the attachment had counted before this boot. */
  readonly nicBase?: NicCounters
  readonly started?: StartReport
  /** More became known of the start than its caller was told, and the instance's workflow has not taken it yet. */
  readonly startDue?: boolean
  readonly exit?: ExitReport
  readonly reported: boolean
  /** Of all earlier boots. */
  readonly usageBefore: Usage
  /** Of this boot, as last sampled; exact once it ended. */
  readonly usageOfBoot: Usage
}

export function newRecord(
  boot: Pick<InstanceRecord, 'instanceUuid' | 'boot' | 'hostBootId' | 'nic' | 'imageDigest'>,
  previous: InstanceRecord | undefined,
): InstanceRecord {
  return {
    version: 1,
    ...boot,
    reported: false,
    usageBefore: usageBefore(boot.boot, previous),
    usageOfBoot: noUsage,
  }
}

/** A repeated attempt of the same boot starts its own count again; an earlier boot's is kept for ever. */
function usageBefore(boot: number, previous: InstanceRecord | undefined): Usage {
  if (previous === undefined) return noUsage
  return previous.boot === boot ? previous.usageBefore : totalUsage(previous)
}

/** With what the VMM knows of the start by now: the first socket may listen long after the start was reported. */
export function withStart(record: InstanceRecord, known: StartReport | undefined): InstanceRecord {
  const { started } = record
  if (known === undefined || started?.netTimeUs !== undefined) return record
  if (started === undefined) return { ...record, started: known }
  const { netTimeUs } = known
  return netTimeUs === undefined ? record : { ...record, started: { ...started, netTimeUs }, startDue: true }
}

/** Over all boots; memory is that of the last sample, which is 0 once the VM ended. */
export function totalUsage(record: InstanceRecord): Usage {
  const { usageBefore, usageOfBoot } = record
  return {
    rssBytes: record.exit === undefined ? usageOfBoot.rssBytes : 0,
    cpuTimeMs: usageBefore.cpuTimeMs + usageOfBoot.cpuTimeMs,
    rxBytes: usageBefore.rxBytes + usageOfBoot.rxBytes,
    rxPackets: usageBefore.rxPackets + usageOfBoot.rxPackets,
    txBytes: usageBefore.txBytes + usageOfBoot.txBytes,
    txPackets: usageBefore.txPackets + usageOfBoot.txPackets,
  }
}

/** The VM's life as it may be seen from outside: for metrics and for what has to be looked after. */
export function runs(
  record: InstanceRecord | undefined,
): record is InstanceRecord & { readonly started: StartReport } {
  return record?.started !== undefined && record.exit === undefined
}
