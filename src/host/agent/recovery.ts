import { LeasePhase } from '../../domain/standby/host-lease-phase.ts'
import { ExitCause } from '../../domain/instance/exit-report.ts'
import type { ExitReport } from '../../domain/instance/exit-report.ts'
import type { VmStatus } from '../vmm/vmm.ts'
import type { AgentPorts } from './agent-ports.ts'
import { haltedExit, vmOf } from '../instance/boot-end.ts'
import type { HostAgent } from './host-agent.ts'
import { recoverHolds } from '../volumes/hold-settlement.ts'
import { InstanceEntry } from '../instance/entry.ts'
import { goesToSleep, permitOf, withStart } from '../instance/record.ts'
import { recoveredHostLease } from '../leases/recovered-lease.ts'
import { readSnapshot } from '../vmm/snapshot-files.ts'
import type { InstanceRecord } from '../instance/record.ts'

export interface RecoveryOptions {
  readonly agent: HostAgent
  readonly ports: AgentPorts
  /**
   * The time when the last agent began to halt the platform. It is undefined if that agent did not halt it.
   * The platform ended all VMs that ended after this time.
   */
  readonly haltedAtMs: number | undefined
}

/**
 * Takes over the instances that a new agent finds in its directory, before the agent takes any work:
 *
 *   VM runs                                   attach its address again and look after it
 *   VM runs, but the last agent was halting   finish the halt: the VM ends
 *   VM ended meanwhile                        record its exit, which is reported later
 *   record says it ran, no VM                 the machine rebooted or the platform halted: `host-halted`; else `vmm-lost`
 *   record of a start that had no VM yet      its address is detached; the caller of the start repeats it
 *   in standby, with its permit               it sleeps on
 *   held, because it moves                    it is held on
 *   in standby, and a VM of the permit        the wake goes on, and is reported
 *   on its way to standby, VM runs            cold: the shutdown goes on; stateful: no snapshot, the instance stays awake
 *   on its way to standby, no VM              the instance is asleep, with its snapshot or with the exit of its VM
 *   VM without a record, or of another boot   it belongs to no instance: it ends
 *
 * Then `recoverHolds` settles the holds of volumes by the outcome. Then the host watches the addresses of
 * sleeping instances for packets of peers. For `leaseKeptMs`, until every gateway has said what it holds, no
 * running instance goes to standby.
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
  await agent.volumes.open()
  const found = new Map(statuses.map((status) => [nameOf(status), status]))
  await Promise.all(
    [...agent.entries.values()].map(async (entry) => {
      // If one instance fails, the agent must still take over all others. `HostAgent.check` looks at the
      // failed instance again.
      await entry.queue
        .run(async () => await recoverOne(options, entry, found))
        .catch((error: unknown) => {
          ports.log.error({ instance: entry.instanceUuid, err: error }, 'an instance could not be taken over')
        })
    }),
  )
  await recoverHolds({ ports, volumes: agent.volumes, entries: agent.entries }).catch((error: unknown) => {
    ports.log.error({ err: error }, 'the holds of volumes could not be checked yet')
  })
  await agent.moves.recover()
  await watchForPeers(agent)
}

/**
 * Watches the addresses of sleeping instances. This comes last: the network reports only the first packet of
 * a peer, and the wake that follows is work which the agent must be ready to do.
 */
async function watchForPeers(agent: HostAgent): Promise<void> {
  const sleepers = [...agent.entries.values()].filter(
    ({ hostLease: { phase } }) => phase === LeasePhase.Asleep || phase === LeasePhase.Held,
  )
  await Promise.all(sleepers.map(async (entry) => await agent.end.rest(entry)))
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
  entry.launch = await ports.store.loadLaunch(entry.instanceUuid)
  // The agent before this one has already reported that the VM stands still.
  if (status?.stalled === true) entry.stalledSinceMs = ports.nowMs()
  if (permitOf(record) !== undefined) await sleepOn(options, entry, status)
  else if (record.exit !== undefined) await agent.end.release(entry, record)
  else if (status?.exit !== undefined) {
    const known = withStart(record, status.started)
    await agent.end.finish(entry, known, trueExit(options, record, status.exit))
  } else if (status !== undefined) await takeOver(options, entry, record, status)
  else if (goesToSleep(record)) await noteSleep(options, entry, record)
  else if (record.started !== undefined) await agent.end.finish(entry, record, goneExit(options, record))
  else if (record.move === undefined) await ports.network.detach(record.nic)
  attend(options, entry, status)
}

/** Makes the host lease from the record as it is now, and continues the work that the lease says is open. */
function attend(options: RecoveryOptions, entry: InstanceEntry, status: VmStatus | undefined): void {
  const { agent, ports } = options
  const { record, launch } = entry
  if (record === undefined) return
  entry.hostLease = recoveredHostLease({ record, launch, status, nowMs: ports.nowMs() })
  agent.leases.tell(entry, { kind: 'tick' })
  const { order, permit } = entry.hostLease
  if (order !== undefined) agent.follow(entry, agent.standby.finish(entry, order))
  // The permit's VM exists, so a wake was under way. This event makes the host lease continue that wake.
  if (permit === record.boot && status !== undefined) agent.leases.tell(entry, { kind: 'peers' })
}

async function sleepOn(
  options: RecoveryOptions,
  entry: InstanceEntry,
  status: VmStatus | undefined,
): Promise<void> {
  const { agent, ports } = options
  const { record } = entry
  if (record === undefined) return
  if (record.move?.role !== 'new')
    entry.nicBase = await ports.network.counters(record.nic).catch(() => undefined)
  if (status?.exit !== undefined && record.boot === permitOf(record)) {
    await agent.end.finish(entry, withStart(record, status.started), trueExit(options, record, status.exit))
  } else if (status?.started !== undefined && record.boot === permitOf(record)) {
    await takeOver(options, entry, { ...record, startDue: true }, status)
  } else if (status !== undefined && record.boot !== permitOf(record)) {
    // This VM belongs to the boot before the standby, so no instance needs it any more.
    await endStray(ports, status)
  }
}

/**
 * Records that the instance is asleep. It was on its way to standby and its VM has ended, so it sleeps, with
 * or without a snapshot.
 */
async function noteSleep(
  options: RecoveryOptions,
  entry: InstanceEntry,
  record: InstanceRecord,
): Promise<void> {
  const { agent, ports } = options
  const snapshot = await readSnapshot(ports.store.directory(entry.instanceUuid))
  if (snapshot?.boot === record.boot)
    await agent.end.noteAsleep(entry, record, { snapshotUuid: snapshot.uuid })
  else await agent.end.finish(entry, record, goneExit(options, record))
}

async function takeOver(
  options: RecoveryOptions,
  entry: InstanceEntry,
  record: InstanceRecord,
  status: VmStatus,
): Promise<void> {
  const { agent, ports, haltedAtMs } = options
  const known = withStart(record, status.started)
  if (known !== entry.record) await entry.save(known)
  if (haltedAtMs !== undefined) {
    await agent.end.kill(entry, 'host-halted')
    return
  }
  if (goesToSleep(known) && known.standby.stateful) await agent.standby.stayAwake(entry)
  // The last agent may have asked the guest to go to standby, and died before it could record that.
  else if (entry.launch !== undefined && !goesToSleep(known)) await ports.vmm.stayAwake(vmOf(record))
  await ports.network.attach(record.nic)
  ports.log.info({ instance: record.instanceUuid, boot: record.boot }, 'the VM runs on')
}

/**
 * The exit that is reported. It is the exit that was found, except after a reboot or a halt of the platform.
 * In these cases the VM's files show a lost VM or an end by the instance itself, which is not true.
 */
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
