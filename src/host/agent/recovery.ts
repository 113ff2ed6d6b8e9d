import { ExitCause } from '../../domain/exit-report.ts'
import type { ExitReport } from '../../domain/exit-report.ts'
import type { VmStatus } from '../vmm/vmm.ts'
import type { AgentPorts } from './agent-ports.ts'
import { haltedExit, vmOf } from './boot-end.ts'
import type { HostAgent } from './host-agent.ts'
import { InstanceEntry } from './instance-entry.ts'
import { withStart } from './instance-record.ts'
import type { InstanceRecord } from './instance-record.ts'

export interface RecoveryOptions {
  readonly agent: HostAgent
  readonly ports: AgentPorts
  /** When the last agent began to halt the platform, if it did: what ended since then ended on the platform's account. */
  readonly haltedAtMs: number | undefined
}

/**
 * What a new agent makes of the directory it finds, before it takes any work:
 *
 *   VM runs                                   attach its address again and look after it
 *   VM runs, but the last agent was halting   finish that: the VM ends
 *   VM ended meanwhile                        record its exit, which will be reported
 *   record says it ran, no VM                 the machine rebooted or the platform halted: `host-halted`; else `vmm-lost`
 *   record of a start that had no VM yet      nothing: the start is repeated by whoever asked for it
 *   VM without a record, or of another boot   nobody's: it ends
 */
export async function recover(options: RecoveryOptions): Promise<void> {
  const { agent, ports } = options
  const [stored, statuses] = await Promise.all([ports.store.loadAll(), ports.vmm.recover()])
  const unclaimed = new Map(statuses.map((status) => [nameOf(status), status]))
  for (const { instanceUuid, record } of stored) {
    agent.entries.set(instanceUuid, new InstanceEntry(instanceUuid, ports.store, record))
    if (record !== undefined) unclaimed.delete(nameOf(vmOf(record)))
  }
  await Promise.all([...unclaimed.values()].map(async (status) => await endStray(ports, status)))
  const found = new Map(statuses.map((status) => [nameOf(status), status]))
  await Promise.all(
    [...agent.entries.values()].map(async (entry) => {
      // What is wrong with one instance must not keep the agent from all others; `HostAgent.check` comes back to it.
      await entry.queue
        .run(async () => await recoverOne(options, entry, found))
        .catch((error: unknown) => {
          ports.log.error({ instance: entry.instanceUuid, err: error }, 'an instance could not be taken over')
        })
    }),
  )
}

async function recoverOne(
  options: RecoveryOptions,
  entry: InstanceEntry,
  found: ReadonlyMap<string, VmStatus>,
): Promise<void> {
  const { agent, ports } = options
  const { record } = entry
  if (record === undefined) return
  const status = found.get(nameOf(vmOf(record)))
  if (record.exit !== undefined) await agent.end.release(record)
  else if (status?.exit !== undefined) {
    const known = withStart(record, status.started)
    await agent.end.finish(entry, known, trueExit(options, record, status.exit))
  } else if (status !== undefined) await takeOver(options, entry, record, status)
  else if (record.started !== undefined) await agent.end.finish(entry, record, goneExit(options, record))
  else await ports.network.detach(record.nic)
}

async function takeOver(
  options: RecoveryOptions,
  entry: InstanceEntry,
  record: InstanceRecord,
  status: VmStatus,
): Promise<void> {
  const { agent, ports, haltedAtMs } = options
  const known = withStart(record, status.started)
  if (known !== record) await entry.save(known)
  if (haltedAtMs !== undefined) {
    await agent.end.kill(entry, 'host-halted')
    return
  }
  await ports.network.attach(record.nic)
  ports.log.info({ instance: record.instanceUuid, boot: record.boot }, 'the VM runs on')
}

/** A report that was written holds, except that a reboot or a halt of the platform looks like a lost VM from below. */
function trueExit(options: RecoveryOptions, record: InstanceRecord, exit: ExitReport): ExitReport {
  const { ports, haltedAtMs } = options
  const rebooted = record.hostBootId !== ports.hostBootId && exit.cause === ExitCause.VmmLost
  const halted = haltedAtMs !== undefined && exit.atMs >= haltedAtMs
  return rebooted || halted ? haltedExit(exit) : exit
}

function goneExit(options: RecoveryOptions, record: InstanceRecord): ExitReport {
  const { ports, haltedAtMs } = options
  const onPlatform = record.hostBootId !== ports.hostBootId || haltedAtMs !== undefined
  return {
    boot: record.boot,
    cause: onPlatform ? ExitCause.HostHalted : ExitCause.VmmLost,
    applicationStarted: true,
    atMs: ports.nowMs(),
  }
}

async function endStray(ports: AgentPorts, status: VmStatus): Promise<void> {
  ports.log.warn({ instance: status.instanceUuid, boot: status.boot }, 'a VM without a record is ended')
  if (status.exit === undefined) await ports.vmm.kill(status, 'forced')
  await ports.vmm.forget(status)
}

function nameOf(vm: { readonly instanceUuid: string; readonly boot: number }): string {
  return `${vm.instanceUuid}#${String(vm.boot)}`
}
