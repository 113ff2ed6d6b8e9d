import { ExitCause } from '../../domain/exit-report.ts'
import type { ExitReport } from '../../domain/exit-report.ts'
import type { StartReport } from '../../domain/start-report.ts'
import type { VmName, VmSpec, VmStatus } from './vmm.ts'

/** A VM that only pretends: its life is a few timers. */
interface FakeVm {
  readonly spec: VmSpec
  readonly bornAtMs: number
  started?: StartReport
  exit?: ExitReport
  ignoresShutdown: boolean
  timer?: NodeJS.Timeout
  socketTimer?: NodeJS.Timeout
}

/**
 * What stays when an agent dies: the pretended VMs of one machine. A test hands the same object to the next `FakeVmm`, as
 * processes would be found again by the next agent.
 */
export class FakeHost {
  readonly #vms = new Map<string, FakeVm>()
  /** How many VMs were ever made, and how many of one instance ran at once at most: what tests of restarts look at. */
  starts = 0
  mostOfOneInstance = 0
  readonly #awaiting: (() => void)[] = []
  readonly #listeners = new Set<(vm: VmName, exit: ExitReport) => void>()
  readonly #socketListeners = new Set<(vm: VmName) => void>()

  /** How many VMs run now: of one instance, or of all. */
  running(instanceUuid?: string): number {
    const ofInterest = [...this.#vms.values()].filter(
      (vm) => instanceUuid === undefined || vm.spec.instanceUuid === instanceUuid,
    )
    return ofInterest.filter((vm) => vm.exit === undefined).length
  }

  find(name: VmName): FakeVm | undefined {
    return this.#vms.get(keyOf(name))
  }

  statuses(): readonly VmStatus[] {
    return [...this.#vms.values()].map(statusOf)
  }

  /** Resolves when there is a VM, or at once. */
  async firstVm(): Promise<void> {
    if (this.#vms.size > 0) return
    await new Promise<void>((resolve) => this.#awaiting.push(resolve))
  }

  add(spec: VmSpec): FakeVm {
    const vm = { spec, bornAtMs: Date.now(), ignoresShutdown: false }
    this.#vms.set(keyOf(spec), vm)
    this.starts += 1
    this.mostOfOneInstance = Math.max(this.mostOfOneInstance, this.running(spec.instanceUuid))
    for (const resolve of this.#awaiting.splice(0)) resolve()
    return vm
  }

  /** Ends a VM. One that ended stays as it is. */
  end(name: VmName, how: Partial<ExitReport> & Pick<ExitReport, 'cause'>): void {
    const vm = this.find(name)
    if (vm === undefined || vm.exit !== undefined) return
    clearTimers(vm)
    vm.exit = { boot: name.boot, applicationStarted: vm.started !== undefined, atMs: Date.now(), ...how }
    for (const listener of this.#listeners)
      listener({ instanceUuid: name.instanceUuid, boot: name.boot }, vm.exit)
  }

  /** The application of a VM begins to listen on a socket. */
  openSocket(name: VmName): void {
    const vm = this.find(name)
    if (vm?.started === undefined || vm.exit !== undefined) return
    vm.started = { netTimeUs: Math.max(1, (Date.now() - vm.bornAtMs) * 1_000), ...vm.started }
    for (const listener of this.#socketListeners)
      listener({ instanceUuid: name.instanceUuid, boot: name.boot })
  }

  /** The machine reboots: every VM is gone, and nothing was written about how. */
  reboot(): void {
    for (const vm of this.#vms.values()) clearTimers(vm)
    this.#vms.clear()
  }

  /** A VM's files and process vanish without a trace. */
  lose(name: VmName): void {
    clearTimers(this.find(name))
    this.#vms.delete(keyOf(name))
  }

  forget(name: VmName): void {
    if (this.find(name)?.exit === undefined) return
    this.#vms.delete(keyOf(name))
  }

  listen(listener: (vm: VmName, exit: ExitReport) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  listenForSockets(listener: (vm: VmName) => void): () => void {
    this.#socketListeners.add(listener)
    return () => this.#socketListeners.delete(listener)
  }
}

function clearTimers(vm: FakeVm | undefined): void {
  clearTimeout(vm?.timer)
  clearTimeout(vm?.socketTimer)
}

export function statusOf(vm: FakeVm): VmStatus {
  return {
    instanceUuid: vm.spec.instanceUuid,
    boot: vm.spec.boot,
    ...(vm.started === undefined ? {} : { started: vm.started }),
    ...(vm.exit === undefined ? {} : { exit: vm.exit }),
  }
}

function keyOf(name: VmName): string {
  return `${name.instanceUuid}#${String(name.boot)}`
}

export const shutdownExit = { cause: ExitCause.Guest, signal: 15 } as const
