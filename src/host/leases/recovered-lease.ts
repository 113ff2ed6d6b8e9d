import { noHostLease } from '../../domain/standby/host-lease-state.ts'
import { LeasePhase } from '../../domain/standby/host-lease-phase.ts'
import type { HostLeaseState } from '../../domain/standby/host-lease-state.ts'
import { noScaleToZero } from '../../domain/standby/scale-to-zero.ts'
import { gatewaysToldMs, leaseKeptMs } from '../../domain/standby/lease-protocol.ts'
import type { VmStatus } from '../vmm/vmm.ts'
import { goesToSleep, memoryBootOf, permitOf, runs } from '../instance/record.ts'
import type { InstanceRecord } from '../instance/record.ts'
import type { LaunchCopy } from '../instance/store.ts'

/**
 * The lease of an instance as a new agent knows it from its records. The gateways themselves report which
 * leases they hold, within `leaseKeptMs`.
 */
export function recoveredHostLease(found: {
  readonly record: InstanceRecord
  readonly launch: LaunchCopy | undefined
  readonly status: VmStatus | undefined
  readonly nowMs: number
}): HostLeaseState {
  const { record, launch, status, nowMs } = found
  const settings = launch?.spec.scaleToZero ?? noScaleToZero
  const base = { ...noHostLease, settings, boot: record.boot, ...sleptOf(record) }
  const permit = permitOf(record)
  // If the VM of the permit exists, a start of it was under way, and goes on at once, whatever failed before.
  // Until then nobody would look after the VM, and a stop would not end it.
  const isComing = status !== undefined && permit === record.boot
  if (permit !== undefined) return asleep(isComing ? base : { ...base, ...wakeFailureOf(record) }, record)
  if (goesToSleep(record) && status !== undefined && !record.standby.stateful) {
    const hold = record.move?.role === 'old' ? { hold: record.move.to } : {}
    const order = { ...record.standby, epoch: 0, ...hold }
    return { ...base, phase: LeasePhase.StandingBy, memoryBoot: memoryBootOf(record), order }
  }
  if (!runs(record)) return base
  const unsureUntilMs = nowMs + leaseKeptMs
  return {
    ...base,
    phase: LeasePhase.Running,
    memoryBoot: memoryBootOf(record),
    kind: record.started.kind,
    disabled: status?.disabled ?? false,
    quietFromMs: unsureUntilMs,
    touched: true,
    unsureUntilMs,
    toldFromMs: nowMs + gatewaysToldMs,
  }
}

function asleep(base: HostLeaseState, record: InstanceRecord): HostLeaseState {
  const { standby } = record
  if (standby === undefined) return base
  const memoryKept = standby.stateful && standby.exit === undefined && standby.boot !== 0
  const memoryBoot = memoryKept ? memoryBootOf(record) : 0
  const phase = record.move === undefined ? LeasePhase.Asleep : LeasePhase.Held
  return { ...base, phase, boot: standby.boot, permit: standby.permit, memoryBoot }
}

function sleptOf({ standby }: InstanceRecord): Pick<HostLeaseState, 'slept'> {
  return standby?.atMs === undefined ? {} : { slept: { boot: standby.boot, permit: standby.permit } }
}

function wakeFailureOf({ standby }: InstanceRecord): Pick<HostLeaseState, 'wakeFailure'> {
  if (standby?.wakeFailure === undefined) return {}
  const { due: _, ...wakeFailure } = standby.wakeFailure
  return { wakeFailure }
}
