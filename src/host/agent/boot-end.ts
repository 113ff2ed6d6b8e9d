import { ExitCause } from '../../domain/exit-report.ts'
import type { ExitReport } from '../../domain/exit-report.ts'
import type { VmName } from '../vmm/vmm.ts'
import type { AgentPorts } from './agent-ports.ts'
import type { InstanceEntry } from './instance-entry.ts'
import { runs, withStart } from './instance-record.ts'
import type { InstanceRecord } from './instance-record.ts'
import { sampleUsage } from './usage-sample.ts'

/** A killed VM's report is there within milliseconds; this bounds the wait for a machine that is overloaded. */
const reportLimitMs = 10_000

/**
 * How a boot comes to its end in the agent's books. Everything here runs within the instance's queue and may be repeated:
 * the exit is written first, and what follows (address, files of the VM) finds nothing to do the second time.
 */
export class BootEnd {
  readonly #ports: AgentPorts
  /** Set when the platform halts: from then on a VM that ends does so on the platform's account. */
  #halting = false
  #onNews: () => void = () => undefined

  constructor(ports: AgentPorts) {
    this.#ports = ports
  }

  beginHalt(): void {
    this.#halting = true
  }

  /** Some record holds an event that is to be reported. */
  onNews(listener: () => void): void {
    this.#onNews = listener
  }

  /**
   * Reads what the VMM has of the current boot: notes what became known of its start, and closes the books if it ended.
   * Returns the exit, if there is one.
   */
  async settle(entry: InstanceEntry): Promise<ExitReport | undefined> {
    const { record } = entry
    if (record === undefined || record.exit !== undefined) return record?.exit
    const status = await this.#ports.vmm.status(vmOf(record))
    const known = runs(record) ? withStart(record, status?.started) : record
    if (status?.exit !== undefined) return await this.finish(entry, known, status.exit)
    if (known !== record) {
      await entry.save(known)
      this.#onNews()
    }
    const lost = status === undefined && record.started !== undefined
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

  async finish(entry: InstanceEntry, record: InstanceRecord, observed: ExitReport): Promise<ExitReport> {
    const halted = this.#halting && entry.stopAskedOfBoot !== record.boot
    const exit = halted ? haltedExit(observed) : observed
    const usageOfBoot = { ...(await sampleUsage(this.#ports, record)), rssBytes: 0 }
    await entry.save({ ...record, exit, usageOfBoot, reported: false })
    this.#ports.observer.ended(exit.cause)
    this.#ports.log.info({ instance: entry.instanceUuid, boot: record.boot, exit }, 'the VM ended')
    await this.release(record)
    this.#onNews()
    return exit
  }

  /** Gives back what a boot held. Failing here must not undo the end itself; the next start or recovery repeats it. */
  async release(record: InstanceRecord): Promise<void> {
    const { network, vmm, log } = this.#ports
    const unable = (what: string) => (error: unknown) => {
      log.warn(
        { instance: record.instanceUuid, boot: record.boot, err: error },
        `could not give back the ${what}`,
      )
    }
    await Promise.all([
      network.detach(record.nic).catch(unable('address')),
      vmm.forget(vmOf(record)).catch(unable('files of the VM')),
    ])
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
