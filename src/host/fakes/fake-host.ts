import { ExitCause } from '../../domain/instance/exit-report.ts'
import type { ExitReport } from '../../domain/instance/exit-report.ts'
import type { StartReport } from '../../domain/instance/start-report.ts'
import type { VmName, VmSpec, VmStatus } from '../vmm/vmm.ts'

/** What a guest uses of a CPU that does nothing. */
const idleMillicores = 10

/** A VM that only pretends: its life is a few timers. */
interface FakeVm {
  readonly spec: VmSpec
  readonly bornAtMs: number
  started?: StartReport
  exit?: ExitReport
  ignoresShutdown: boolean
  /**
   * Whether it goes on from a snapshot is still being found out: should its agent die now, there never was a
   * VM.
   */
  unborn?: boolean
  /** It speaks against standby. */
  disabled?: boolean
  /** It said that standby suits it; what it says since then waits in `heldBack`. */
  resting?: boolean
  heldBack?: boolean
  /** It waits for room on the host's disk. */
  stalled?: boolean
  /** Used up to `sinceMs`, and as much since then as `millicores` says. */
  cpu: { readonly timeMs: number; readonly sinceMs: number; readonly millicores: number }
  timer?: NodeJS.Timeout
  socketTimer?: NodeJS.Timeout
}

/**
 * What stays when an agent dies: the pretended VMs of one machine. A test hands the same object to the next
 * `FakeVmm`, as processes would be found again by the next agent.
 */
export class FakeHost {
  readonly #vms = new Map<string, FakeVm>()
  /**
   * How many VMs were ever made, and how many of one instance ran at once at most: what tests of restarts
   * look at.
   */
  starts = 0
  mostOfOneInstance = 0
  readonly #awaiting: (() => void)[] = []
  readonly #listeners = new Set<(vm: VmName, exit: ExitReport) => void>()
  readonly #socketListeners = new Set<(vm: VmName) => void>()
  readonly #disabledListeners = new Set<(vm: VmName, disabled: boolean) => void>()
  readonly #stalledListeners = new Set<(vm: VmName, stalled: boolean) => void>()

  /** How many VMs run now: of one instance, or of all. */
  running(instanceUuid?: string): number {
    const ofInterest = [...this.#vms.values()].filter(
      (vm) => instanceUuid === undefined || vm.spec.instanceUuid === instanceUuid,
    )
    return ofInterest.filter((vm) => vm.exit === undefined).length
  }

  /** Those that have not ended, with the memory that they were started with. */
  held(): readonly { readonly instanceUuid: string; readonly memoryMb: number }[] {
    return [...this.#vms.values()].filter((vm) => vm.exit === undefined).map((vm) => vm.spec)
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
    const bornAtMs = Date.now()
    const cpu = { timeMs: 0, sinceMs: bornAtMs, millicores: idleMillicores }
    const vm = { spec, bornAtMs, ignoresShutdown: false, cpu }
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

  /** The guest begins or ceases to speak against standby; one that rests is held back until it is awake. */
  setDisabled(name: VmName, disabled: boolean): void {
    const vm = this.find(name)
    if (vm === undefined || vm.exit !== undefined) return
    if (vm.resting === true) vm.heldBack = disabled
    else if ((vm.disabled ?? false) !== disabled) {
      vm.disabled = disabled
      for (const listener of this.#disabledListeners)
        listener({ instanceUuid: name.instanceUuid, boot: name.boot }, disabled)
    }
  }

  /** A guest with a volume writes where the host's disk has no room, or has again. */
  setStalled(name: VmName, stalled: boolean): void {
    const vm = this.find(name)
    if (vm?.spec.volume === undefined || vm.exit !== undefined || (vm.stalled ?? false) === stalled) return
    vm.stalled = stalled
    for (const listener of this.#stalledListeners)
      listener({ instanceUuid: name.instanceUuid, boot: name.boot }, stalled)
  }

  /** From now on it uses that much of a CPU. */
  setCpu(name: VmName, millicores: number): void {
    const vm = this.find(name)
    if (vm !== undefined) vm.cpu = { timeMs: cpuTimeMsOf(vm), sinceMs: Date.now(), millicores }
  }

  cpuTimeMs(name: VmName): number | undefined {
    const vm = this.find(name)
    return vm === undefined ? undefined : Math.ceil(cpuTimeMsOf(vm))
  }

  rest(name: VmName): void {
    const vm = this.find(name)
    if (vm !== undefined) vm.resting = true
  }

  wake(name: VmName): void {
    const vm = this.find(name)
    if (vm === undefined) return
    vm.resting = false
    const { heldBack } = vm
    delete vm.heldBack
    if (heldBack !== undefined) this.setDisabled(name, heldBack)
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

  forgetUnborn(): void {
    for (const [key, vm] of this.#vms) if (vm.unborn === true) this.#vms.delete(key)
  }

  forget(name: VmName): void {
    if (this.find(name)?.exit === undefined) return
    this.#vms.delete(keyOf(name))
  }

  listen(listener: (vm: VmName, exit: ExitReport) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  listenForDisabled(listener: (vm: VmName, disabled: boolean) => void): () => void {
    this.#disabledListeners.add(listener)
    return () => this.#disabledListeners.delete(listener)
  }

  listenForStalled(listener: (vm: VmName, stalled: boolean) => void): () => void {
    this.#stalledListeners.add(listener)
    return () => this.#stalledListeners.delete(listener)
  }

  listenForSockets(listener: (vm: VmName) => void): () => void {
    this.#socketListeners.add(listener)
    return () => this.#socketListeners.delete(listener)
  }
}

function cpuTimeMsOf({ cpu, exit }: FakeVm): number {
  return cpu.timeMs + (Math.max(0, (exit?.atMs ?? Date.now()) - cpu.sinceMs) * cpu.millicores) / 1_000
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
    ...(vm.disabled === undefined ? {} : { disabled: vm.disabled }),
    ...(vm.stalled === true && vm.exit === undefined ? { stalled: true } : {}),
    ...(vm.exit === undefined ? {} : { exit: vm.exit }),
  }
}

function keyOf(name: VmName): string {
  return `${name.instanceUuid}#${String(name.boot)}`
}

export const shutdownExit = { cause: ExitCause.Guest, signal: 15 } as const
