import type {
  HostActivities,
  StandByResult,
  StartResult,
  StopResult,
} from '../../domain/instance/host-work.ts'
import { HostFailure, StandByRefusal } from '../../domain/instance/host-work.ts'
import type { HostLeaseEvent } from '../../domain/standby/host-lease-state.ts'
import type { AgentPorts } from './agent-ports.ts'
import { BootEnd, vmOf } from '../instance/boot-end.ts'
import { BootStart } from '../instance/boot-start.ts'
import { HostLeases } from '../leases/host-leases.ts'
import { settleHolds } from '../volumes/hold-settlement.ts'
import { HostStartError } from '../instance/host-start-error.ts'
import { beginStart, interruptStart, isStarting } from '../instance/start-job.ts'
import { HostVolumes } from '../volumes/host-volumes.ts'
import { InstanceEntry } from '../instance/entry.ts'
import { InstanceMoves } from './instance-moves.ts'
import { leaseWork } from './lease-work.ts'
import type { StartJob } from '../instance/entry.ts'
import { goesToSleep, permitOf, runs, standByResult } from '../instance/record.ts'
import type { InstanceRecord } from '../instance/record.ts'
import { RemovedHere } from '../instance/removed-here.ts'
import { shutdownLimitMs } from '../instance/shutdown-limit.ts'
import { StandbyWork } from '../leases/standby-work.ts'
import type { VmName } from '../vmm/vmm.ts'

/**
 * How long a whole halt may take. Applications may use half of it to end by themselves. The stack kills the
 * agent after 5 s.
 */
const haltLimitMs = 3_000

/**
 * The core of a host: it carries out `HostActivities` on the ports. All state is in the instances' records;
 * this object only knows which work is under way. Any method may be repeated, and a new object on the same
 * directory continues the work.
 */
export class HostAgent {
  readonly entries: Map<string, InstanceEntry>
  readonly end: BootEnd
  readonly #ports: AgentPorts
  readonly leases: HostLeases
  readonly volumes: HostVolumes
  readonly standby: StandbyWork
  readonly moves: InstanceMoves
  readonly #start: BootStart
  readonly #removed = new RemovedHere()
  #halting = false

  /** `entries` may be given by a caller that also shows them. */
  constructor(ports: AgentPorts, entries = new Map<string, InstanceEntry>()) {
    this.entries = entries
    this.#ports = ports
    const leases = new HostLeases(ports, entries)
    this.leases = leases
    this.volumes = new HostVolumes(ports, { entries })
    this.end = new BootEnd(ports, leases, this.volumes)
    const parts = { ports, leases, end: this.end, volumes: this.volumes }
    this.standby = new StandbyWork(parts)
    this.#start = new BootStart({ ...parts, standby: this.standby })
    this.moves = new InstanceMoves({
      ...parts,
      entries,
      standby: this.standby,
      entry: (instanceUuid) => this.entry(instanceUuid),
      clear: async (instanceUuid) => {
        await this.clear({ instanceUuid })
      },
    })
    leases.setCallbacks(
      leaseWork({
        ...parts,
        standby: this.standby,
        wake: (entry, boot) => {
          // During a halt no instance wakes. The permit stays, and the next agent tells the workflow.
          if (!this.#halting && !isStarting(entry, boot))
            this.#newJob(entry, { boot, byPermit: true, early: false })
        },
        follow: (entry, work) => {
          this.follow(entry, work)
        },
      }),
    )
    ports.vmm.onExit((vm) => this.#look(vm))
    ports.vmm.onListening((vm) => this.#look(vm))
    ports.vmm.onDisabled(({ instanceUuid, boot }, disabled) => {
      this.#feed(instanceUuid, { kind: 'disabled', boot, disabled })
    })
    ports.vmm.onStalled(({ instanceUuid, boot }, stalled) => {
      const entry = this.entries.get(instanceUuid)
      if (entry?.record?.boot === boot) this.end.stalls.note(entry, stalled)
    })
    ports.network.onPeerTraffic(({ instanceUuid }) => {
      this.#feed(instanceUuid, { kind: 'peers' })
    })
  }

  /**
   * See `HostActivities.startInstance`. A start of the same boot that is under way is joined. If an order to
   * stand by is under way, the start waits for its end.
   */
  async start(input: {
    readonly instanceUuid: string
    readonly boot: number
    /** The call is the API's and not the workflow's. */
    readonly early?: boolean
  }): Promise<StartResult> {
    if (this.#halting) throw new HostStartError(HostFailure.BootFailed, 'the host is shutting down')
    if (this.moves.isFetching(input.instanceUuid)) await this.moves.callOff(input.instanceUuid)
    const entry = this.entry(input.instanceUuid)
    // The caller asks for a boot that may be draining. So it has cancelled the stop of that boot, even if
    // the drain has already ended.
    this.leases.tell(entry, { kind: 'drain-cancelled', boot: input.boot })
    const { job } = entry
    const { boot, early = false } = input
    if (job !== undefined && isStarting(entry, boot)) {
      job.early &&= early
      return await job.result
    }
    if (job !== undefined && job.boot < boot) job.controller.abort()
    return await this.#newJob(entry, { boot, byPermit: false, early }).result
  }

  /** See `HostActivities.standByInstance`. */
  async standBy(input: Parameters<HostActivities['standByInstance']>[0]): Promise<StandByResult> {
    const { instanceUuid, ...order } = input
    if (this.#removed.has(instanceUuid)) return { slept: false, reason: StandByRefusal.NotRunning }
    const entry = this.entry(instanceUuid)
    const done = standByResult(entry.record, order)
    if (done !== undefined) {
      if (order.hold === undefined) await this.moves.endHold(input)
      await entry.queue.run(async () => await this.standby.tellAgain(entry, order.permit))
      return done
    }
    if (this.#halting) return { slept: false, reason: StandByRefusal.NotRunning }
    if (order.hold !== undefined) this.moves.requireMovable(entry, order.volume)
    const peerPackets =
      entry.record === undefined ? undefined : await this.#ports.network.peerPackets(entry.record.nic)
    return await new Promise((resolve) => {
      entry.standByCalls.add({ boot: order.boot, permit: order.permit, resolve })
      this.leases.tell(entry, {
        kind: 'stand-by',
        ...order,
        ...(peerPackets === undefined ? {} : { peerPackets }),
      })
    })
  }

  /** See `HostActivities.changeInstance`. */
  async change(
    input: Parameters<HostActivities['changeInstance']>[0],
  ): Promise<{ readonly renewed: boolean }> {
    const { scaleToZero, renew } = input
    const entry = this.entries.get(input.instanceUuid)
    if (entry === undefined) return { renewed: false }
    this.leases.tell(entry, { kind: 'settings', settings: scaleToZero })
    return await entry.queue.run(async () => {
      const renewed = renew && permitOf(entry.record) !== undefined
      if (renewed) await this.standby.renew(entry)
      else await this.standby.keepSettings(entry, scaleToZero)
      return { renewed }
    })
  }

  /** See `HostActivities.drainInstance`. */
  async drain(input: { readonly instanceUuid: string; readonly boot: number }): Promise<void> {
    const entry = this.entries.get(input.instanceUuid)
    if (entry === undefined) return
    await new Promise<void>((resolve) => {
      entry.drainCalls.add({ boot: input.boot, resolve })
      this.leases.tell(entry, { kind: 'drain', boot: input.boot })
    })
  }

  /** Cancels a drain, unless a stop came in the meantime. */
  undrain(input: { readonly instanceUuid: string; readonly boot: number }): void {
    this.#feed(input.instanceUuid, { kind: 'drain-cancelled', boot: input.boot })
  }

  /** Ends a start under way that its caller no longer wants. Resolves when nothing of the start is left. */
  async abandon(input: { readonly instanceUuid: string; readonly boot: number }): Promise<void> {
    const job = this.entries.get(input.instanceUuid)?.job
    if (job?.boot !== input.boot) return
    job.controller.abort()
    await job.result.catch(() => undefined)
  }

  /** See `HostActivities.stopInstance`. */
  async stop(input: {
    readonly instanceUuid: string
    readonly boot: number
    readonly forced: boolean
    readonly graceMs: number
  }): Promise<StopResult> {
    if (this.moves.isFetching(input.instanceUuid)) await this.moves.callOff(input.instanceUuid)
    const entry = this.entry(input.instanceUuid)
    entry.stopAskedOfBoot = Math.max(entry.stopAskedOfBoot, input.boot)
    this.leases.tell(entry, { kind: 'stop', boot: input.boot })
    await interruptStart(entry, input)
    if (entry.sleep !== undefined) await this.#overtakeSleep(entry)
    const { record } = entry
    if (
      record !== undefined &&
      record.boot <= input.boot &&
      !isRevoked(record) &&
      permitOf(record) === undefined
    ) {
      await this.#endThrough(entry, record, input)
    }
    await entry.queue.run(async () => {
      const { move } = entry.record ?? {}
      if (move !== undefined) await this.moves.beforeStop(entry, input.boot)
      await this.#endStandby(entry, input.boot)
      this.moves.noteOverridden(entry, move)
    })
    this.leases.tell(entry, { kind: 'stopped', boot: input.boot })
    const after = entry.record
    // A stop of the permit's boot may find the instance still on its way to standby. Then the boot that
    // ended is the one before it.
    const isOver = after?.exit !== undefined && after.boot <= input.boot && after.boot >= input.boot - 1
    return isOver ? { exit: after.exit } : {}
  }

  async #endThrough(
    entry: InstanceEntry,
    record: InstanceRecord,
    stop: { readonly forced: boolean; readonly graceMs: number },
  ): Promise<void> {
    if (!stop.forced && runs(record) && !(await this.leases.endsUntold(entry))) {
      await this.#ports.vmm.shutdown(vmOf(record), { graceMs: stop.graceMs })
      await entry.ended(shutdownLimitMs(record, stop.graceMs))
    }
    await entry.queue.run(async () => await this.end.endNow(entry, record.boot))
    await entry.sleep
  }

  /**
   * A shutdown for standby becomes the shutdown of the stop. A snapshot that is being written is first
   * finished and then dropped.
   */
  async #overtakeSleep(entry: InstanceEntry): Promise<void> {
    await entry.queue.run(async () => {
      await Promise.resolve()
    })
    const { record } = entry
    if (!goesToSleep(record) || record.standby.stateful) await entry.sleep
  }

  /**
   * Within `queue`: takes the permit of an instance in standby away, and refuses late orders to start
   * `boot`.
   */
  async #endStandby(entry: InstanceEntry, boot: number): Promise<void> {
    const permit = permitOf(entry.record)
    if (permit !== undefined && permit <= boot) await this.standby.revoke(entry, boot)
    // An earlier attempt of the same stop was cut off before it deleted what standby had kept. If a later
    // boot has begun, its start has deleted that, and what there is now is its own.
    else if (entry.record?.stoppedThrough === boot && entry.record.boot <= boot)
      await this.standby.drop(entry)
    if ((entry.record?.boot ?? 0) < boot) {
      entry.stoppedThroughBoot = Math.max(entry.stoppedThroughBoot, boot)
    }
  }

  /** See `HostActivities.removeInstance`. */
  async remove(input: { readonly instanceUuid: string }): Promise<void> {
    this.#removed.add(input.instanceUuid)
    if (this.moves.isFetching(input.instanceUuid)) await this.moves.callOff(input.instanceUuid)
    await this.clear(input, { isDeleted: true })
  }

  /** Removes an instance that is not on this host any more. It may be placed here again. */
  async clear(
    input: { readonly instanceUuid: string },
    { isDeleted = false }: { readonly isDeleted?: boolean } = {},
  ): Promise<void> {
    const entry = this.entry(input.instanceUuid)
    const { move } = entry.record ?? {}
    entry.removed = true
    entry.job?.controller.abort()
    await entry.queue.run(async () => {
      const { record } = entry
      await this.end.kill(entry, 'forced')
      // What was fetched has no address here that could be given back.
      if (record !== undefined && record.move?.role !== 'new') await this.standby.revoke(entry, record.boot)
      await this.#ports.vmm.dropSnapshot(this.#ports.store.directory(input.instanceUuid))
      await this.volumes.release(input.instanceUuid)
      await entry.remove()
    })
    this.leases.tell(entry, { kind: move?.role === 'old' && !isDeleted ? 'moved' : 'remove' })
    this.leases.forget(entry)
    this.entries.delete(input.instanceUuid)
    if (move?.role === 'old') this.moves.noteCleared(input.instanceUuid)
  }

  /** Whether this host has been asked to remove the instance, or another host has it now. */
  hasRemoved(instanceUuid: string): boolean {
    return this.#removed.has(instanceUuid) || this.moves.isGone(instanceUuid)
  }

  /** Checks every VM that should run, to find events that were not reported or could not be recorded. */
  async check(): Promise<void> {
    for (const entry of this.entries.values()) {
      if (runs(entry.record)) await entry.queue.run(async () => await this.end.settle(entry))
    }
    await settleHolds({ ports: this.#ports, volumes: this.volumes, entries: this.entries })
    await this.volumes.tellUntold()
  }

  /**
   * Ends every VM because the platform halts. Applications have half of `haltLimitMs` to end by themselves.
   * The reports stay on disk for the next agent. From here on nothing can be started.
   */
  async halt(): Promise<void> {
    this.#halting = true
    this.end.beginHalt()
    this.leases.close()
    await Promise.all(
      [...this.entries.values()].map(async (entry) => {
        entry.job?.controller.abort()
        await entry.job?.result.catch(() => undefined)
        if (!runs(entry.record)) return
        this.leases.tell(entry, { kind: 'stop', boot: entry.record.boot })
        // If the instance is being stopped already, its grace time runs.
        if (entry.stopAskedOfBoot !== entry.record.boot) await this.#askToEnd(entry.record)
        await entry.ended(haltLimitMs)
        await entry.queue.run(async () => await this.end.kill(entry, 'host-halted'))
      }),
    )
  }

  #feed(instanceUuid: string, event: HostLeaseEvent): void {
    const entry = this.entries.get(instanceUuid)
    if (entry !== undefined) this.leases.tell(entry, event)
  }

  /** Remembers the work on an order to stand by as the entry's `sleep`, a promise that never rejects. */
  follow(entry: InstanceEntry, work: Promise<void>): void {
    const sleep = work
      .catch((error: unknown) => {
        this.#ports.log.error({ instance: entry.instanceUuid, err: error }, 'an order to stand by failed')
      })
      .finally(() => {
        if (entry.sleep === sleep) entry.sleep = undefined
      })
    entry.sleep = sleep
  }

  /** Called when something happened to a VM: looks at the VM and records what it finds. */
  #look({ instanceUuid }: VmName): void {
    const entry = this.entries.get(instanceUuid)
    if (entry === undefined) return
    entry.queue
      .run(async () => await this.end.settle(entry))
      .catch((error: unknown) => {
        this.#ports.log.error(
          { instance: instanceUuid, err: error },
          'the end or progress of a VM could not be recorded',
        )
      })
  }

  async #askToEnd(record: InstanceRecord): Promise<void> {
    await this.#ports.vmm.shutdown(vmOf(record), { graceMs: haltLimitMs / 2 }).catch((error: unknown) => {
      this.#ports.log.warn({ instance: record.instanceUuid, err: error }, 'a VM could not be asked to end')
    })
  }

  entry(instanceUuid: string): InstanceEntry {
    const found = this.entries.get(instanceUuid)
    if (found !== undefined) return found
    this.moves.noteBack(instanceUuid)
    const made = new InstanceEntry(instanceUuid, this.#ports.store)
    this.entries.set(instanceUuid, made)
    return made
  }

  #newJob(entry: InstanceEntry, asked: Parameters<typeof beginStart>[1]): StartJob {
    return beginStart(entry, asked, async (job) => {
      const { move } = entry.record ?? {}
      if (move !== undefined) await this.moves.beforeStart(entry, job.boot, job.controller.signal)
      try {
        return await this.#start.run(entry, job)
      } finally {
        this.moves.noteOverridden(entry, move)
      }
    })
  }
}

/** Whether the instance was stopped while it was in standby: nothing of that boot is left to end. */
function isRevoked({ boot, stoppedThrough }: InstanceRecord): boolean {
  return stoppedThrough !== undefined && stoppedThrough > boot
}
