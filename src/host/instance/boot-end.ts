import { ExitCause } from '../../domain/instance/exit-report.ts'
import type { ExitReport } from '../../domain/instance/exit-report.ts'
import type { VmName } from '../vmm/vmm.ts'
import type { AgentPorts } from '../agent/agent-ports.ts'
import type { HostVolumes } from '../volumes/host-volumes.ts'
import type { InstanceEntry } from './entry.ts'
import type { HostLeases } from '../leases/host-leases.ts'
import { goesToSleep, permitOf, released, runs, volumeMoves, withStart } from './record.ts'
import type { InstanceRecord } from './record.ts'
import { StalledVms } from './stalled-vms.ts'
import { sampleUsage } from './usage-sample.ts'

/**
 * How long news of a wake waits before the workflow is told. Nobody waits for the workflow to know, but
 * somebody waits for the guest, and the control plane's work on the news would take the processor from that
 * guest. After this time the guest has usually answered, and the wake and its start are told together.
 */
const soonMs = 500

/**
 * How long the report of a killed VM is waited for. It is there within milliseconds, except on an overloaded
 * machine.
 */
const reportLimitMs = 10_000

/**
 * Records the end of a boot, and gives back what the boot held. Everything here runs within the instance's
 * queue and may be repeated. The exit is written first; the steps after it (address, files of the VM) find
 * nothing to do the second time.
 */
export class BootEnd {
  readonly #ports: AgentPorts
  readonly #leases: HostLeases
  readonly #volumes: HostVolumes
  readonly stalls: StalledVms
  /** Set when the platform halts. From then on the cause of a VM's end is the halt. */
  #halting = false
  #onNews: () => void = () => undefined
  #soon: NodeJS.Timeout | undefined

  constructor(ports: AgentPorts, leases: HostLeases, volumes: HostVolumes) {
    this.#ports = ports
    this.#volumes = volumes
    this.stalls = new StalledVms(ports)
    this.#leases = leases
  }

  beginHalt(): void {
    this.#halting = true
  }

  /** Sets the function that is called when a record has an event to report. */
  onNews(listener: () => void): void {
    this.#onNews = listener
  }

  news(): void {
    this.#onNews()
  }

  newsSoon(): void {
    if (this.#soon !== undefined) return
    this.#soon = setTimeout(() => {
      this.#soon = undefined
      this.#onNews()
    }, soonMs).unref()
  }

  /**
   * Reads what the VMM knows of the current boot. Records what became known of its start, and finishes the
   * boot if it ended. Returns the exit, if there is one.
   */
  async settle(entry: InstanceEntry): Promise<ExitReport | undefined> {
    const { record } = entry
    if (record === undefined || record.exit !== undefined) return record?.exit
    const status = await this.#ports.vmm.status(vmOf(record))
    const known = runs(record) ? withStart(record, status?.started) : record
    if (status?.exit !== undefined) return await this.finish(entry, known, status.exit)
    if (known !== record) {
      await entry.save(known)
      this.newsSoon()
      if (record.started !== undefined) this.#leases.tell(entry, { kind: 'listened', boot: record.boot })
    }
    if (runs(record) && status !== undefined) {
      this.stalls.note(entry, status.stalled ?? false)
      this.#leases.tell(entry, {
        kind: 'disabled',
        boot: record.boot,
        disabled: status.disabled ?? false,
      })
    }
    const lost = status === undefined && runs(record)
    return lost ? await this.finish(entry, record, this.#lost(record)) : undefined
  }

  /**
   * Kills the VM of the current boot, if it runs, and finishes the boot. Undefined if there never was a VM.
   */
  async kill(entry: InstanceEntry, cause: 'forced' | 'host-halted'): Promise<ExitReport | undefined> {
    const settled = await this.settle(entry)
    const { record } = entry
    if (settled !== undefined || record === undefined) return settled
    const vm = vmOf(record)
    if ((await this.#ports.vmm.status(vm)) === undefined) return undefined
    await this.#ports.vmm.kill(vm, cause)
    return await this.finish(entry, record, await this.#reportOf(vm, cause))
  }

  /**
   * Finishes a boot that ended. If the boot was ordered to sleep and was not asked to stop, the instance is
   * asleep now, no matter how the boot ended. In any other case the exit is reported.
   */
  async finish(entry: InstanceEntry, record: InstanceRecord, observed: ExitReport): Promise<ExitReport> {
    const halted = this.#halting && entry.stopAskedOfBoot !== record.boot
    const usageOfBoot = { ...(await sampleUsage(this.#ports, record)), rssBytes: 0 }
    if (goesToSleep(record) && entry.stopAskedOfBoot < record.boot) {
      await this.noteAsleep(
        entry,
        { ...record, exit: observed, usageOfBoot, reported: true },
        { exit: observed },
      )
      this.#ports.observer.ended(observed.cause)
      return observed
    }
    const exit = halted ? haltedExit(observed) : observed
    const { standby, ...ended } = released(record)
    const past = standby?.atMs === undefined ? {} : { standby }
    await entry.save({ ...ended, ...past, exit, usageOfBoot, reported: false })
    this.#ports.observer.ended(exit.cause)
    this.#ports.log.info({ instance: entry.instanceUuid, boot: record.boot, exit }, 'the VM ended')
    await this.release(entry, record)
    this.#leases.tell(entry, { kind: 'exited', boot: record.boot })
    this.#onNews()
    return exit
  }

  /**
   * Within `queue`. Ends at once what of the boot still runs. If the boot never had a VM, only its exit is
   * recorded.
   */
  async endNow(entry: InstanceEntry, boot: number): Promise<ExitReport | undefined> {
    const { record } = entry
    if (record?.boot !== boot) return undefined
    const exit = (await this.settle(entry)) ?? (await this.kill(entry, 'forced'))
    if (exit !== undefined) return exit
    const never = { boot, cause: ExitCause.Forced, applicationStarted: false, atMs: this.#ports.nowMs() }
    return await this.finish(entry, record, never)
  }

  /** Records that the instance is asleep. From here on the permit can be used. */
  async noteAsleep(
    entry: InstanceEntry,
    record: InstanceRecord,
    how: { readonly exit?: ExitReport; readonly snapshotUuid?: string },
  ): Promise<void> {
    const { standby } = record
    if (standby === undefined) throw new Error('only a boot that was ordered to sleep can be asleep')
    entry.nicBase = await this.#ports.network.counters(record.nic).catch(() => undefined)
    const asleep = { ...record, standby: { ...standby, ...how, atMs: this.#ports.nowMs() } }
    await entry.save(asleep, { durable: true })
    const { boot } = record
    this.#ports.log.info({ instance: entry.instanceUuid, boot, permit: standby.permit }, 'in standby')
    this.#ports.observer.slept(standby.stateful)
    await Promise.all([this.rest(entry), this.#forget(asleep)])
    this.#leases.tell(entry, { kind: 'slept', boot, memoryKept: how.snapshotUuid !== undefined })
  }

  /**
   * Keeps the address of a sleeping instance in place, so that a packet finds it and wakes the instance. If
   * this fails, only peers can not wake it.
   */
  async rest(entry: InstanceEntry): Promise<void> {
    const { network, log } = this.#ports
    const { record } = entry
    // An instance that was fetched has no place in this host's network before it is this host's.
    if (record === undefined || record.move?.role === 'new') return
    try {
      await network.standBy(record.nic)
    } catch (error) {
      log.warn(
        { instance: entry.instanceUuid, err: error },
        'the address of a sleeping instance is not ready',
      )
    }
  }

  /**
   * Gives back what a boot held; in standby the address and the volume are kept. A failure here is only
   * logged, because the end itself must stay recorded. The next start or recovery repeats this.
   */
  async release(entry: InstanceEntry, record: InstanceRecord): Promise<void> {
    const { network, store } = this.#ports
    if (permitOf(entry.record) !== undefined) {
      await Promise.all([this.rest(entry), this.#forget(record)])
      return
    }
    entry.nicBase = undefined
    entry.launch = undefined
    await Promise.all([
      record.move?.role === 'new'
        ? undefined
        : network.detach(record.nic).catch(this.#unable(record, 'address')),
      volumeMoves(entry.record)
        ? undefined
        : this.#volumes.release(record.instanceUuid).catch(this.#unable(record, 'volume')),
      store.dropLaunch(record.instanceUuid).catch(this.#unable(record, 'copy of the launch spec')),
      this.#forget(record),
    ])
  }

  async #forget(record: InstanceRecord): Promise<void> {
    await this.#ports.vmm.forget(vmOf(record)).catch(this.#unable(record, 'files of the VM'))
  }

  #unable(record: InstanceRecord, what: string): (error: unknown) => void {
    const { instanceUuid: instance, boot } = record
    return (error) => {
      this.#ports.log.warn({ instance, boot, err: error }, `could not give back the ${what}`)
    }
  }

  #lost(record: InstanceRecord): ExitReport {
    return {
      boot: record.boot,
      cause: ExitCause.VmmLost,
      applicationStarted: true,
      atMs: this.#ports.nowMs(),
    }
  }

  async #reportOf(vm: VmName, cause: 'forced' | 'host-halted'): Promise<ExitReport> {
    const deadline = this.#ports.nowMs() + reportLimitMs
    for (;;) {
      const status = await this.#ports.vmm.status(vm)
      if (status?.exit !== undefined) return status.exit
      if (status === undefined || this.#ports.nowMs() > deadline) break
      await new Promise((resolve) => setTimeout(resolve, reportPollMs))
    }
    return { boot: vm.boot, cause, applicationStarted: false, atMs: this.#ports.nowMs() }
  }
}

const reportPollMs = 20

export function vmOf(record: InstanceRecord): VmName {
  return { instanceUuid: record.instanceUuid, boot: record.boot }
}

/**
 * The exit of a VM that ended in the platform's halt. The exit code or signal of the application is left
 * out, because the halt is the cause.
 */
export function haltedExit(observed: ExitReport): ExitReport {
  return {
    boot: observed.boot,
    cause: ExitCause.HostHalted,
    applicationStarted: observed.applicationStarted,
    atMs: observed.atMs,
  }
}
