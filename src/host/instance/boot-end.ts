import { ExitCause } from '../../domain/instance/exit-report.ts'
import type { ExitReport } from '../../domain/instance/exit-report.ts'
import type { VmName } from '../vmm/vmm.ts'
import type { AgentPorts } from '../agent/agent-ports.ts'
import type { HostVolumes } from '../volumes/host-volumes.ts'
import type { InstanceEntry } from './entry.ts'
import type { HostLeases } from '../leases/host-leases.ts'
import { goesToSleep, permitOf, runs, withStart } from './record.ts'
import type { InstanceRecord } from './record.ts'
import { StalledVms } from './stalled-vms.ts'
import { sampleUsage } from './usage-sample.ts'

/**
 * What the workflow hears of a wake it need not hear at once, and the control plane's work on it would take
 * the processor from a guest that somebody waits for: it is told after the first answer, and of the wake and
 * its start together.
 */
const soonMs = 500

/**
 * A killed VM's report is there within milliseconds; this bounds the wait for a machine that is overloaded.
 */
const reportLimitMs = 10_000

/**
 * How a boot comes to its end in the agent's books. Everything here runs within the instance's queue and may
 * be repeated: the exit is written first, and what follows (address, files of the VM) finds nothing to do the
 * second time.
 */
export class BootEnd {
  readonly #ports: AgentPorts
  readonly #leases: HostLeases
  readonly #volumes: HostVolumes
  readonly stalls: StalledVms
  /** Set when the platform halts: from then on a VM that ends does so on the platform's account. */
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

  /** Some record holds an event that is to be reported. */
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
   * Reads what the VMM has of the current boot: notes what became known of its start, and closes the books if
   * it ended. Returns the exit, if there is one.
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

  /** Kills what may run of the current boot and closes the books; undefined where there never was a VM. */
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
   * The end of a boot that was ordered to sleep makes it asleep, however it came; of another one, or of one
   * that is stopped, it is told.
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
    const { standby, ...ended } = record
    const past = standby?.atMs === undefined ? {} : { standby }
    await entry.save({ ...ended, ...past, exit, usageOfBoot, reported: false })
    this.#ports.observer.ended(exit.cause)
    this.#ports.log.info({ instance: entry.instanceUuid, boot: record.boot, exit }, 'the VM ended')
    await this.release(entry, record)
    this.#leases.tell(entry, { kind: 'exited', boot: record.boot })
    this.#onNews()
    return exit
  }

  /** The permit is there from here on. */
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
   * The address of a sleeping instance stays where it is, so that a wake finds it; without it only peers can
   * not wake it.
   */
  async rest(entry: InstanceEntry): Promise<void> {
    const { network, log } = this.#ports
    const { record } = entry
    if (record === undefined) return
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
   * Gives back what a boot held; in standby the address and the volume are kept. Failing here must not undo
   * the end itself; the next start or recovery repeats it.
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
      network.detach(record.nic).catch(this.#unable(record, 'address')),
      this.#volumes.release(record.instanceUuid).catch(this.#unable(record, 'volume')),
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

/** What the platform's halt made of an end: how the application took the signal is nobody's business then. */
export function haltedExit(observed: ExitReport): ExitReport {
  return {
    boot: observed.boot,
    cause: ExitCause.HostHalted,
    applicationStarted: observed.applicationStarted,
    atMs: observed.atMs,
  }
}
