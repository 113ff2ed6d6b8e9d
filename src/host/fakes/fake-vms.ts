import { ExitCause } from '../../domain/instance/exit-report.ts'
import type { ExitReport } from '../../domain/instance/exit-report.ts'
import type { StartReport } from '../../domain/instance/start-report.ts'
import { FakePrograms } from './fake-exec.ts'
import type { FakeMirror } from './fake-mirror.ts'
import type { VmName, VmSpec, VmStatus } from '../vmm/vmm.ts'

/** The CPU use of an idle guest, in thousandths of a CPU. */
const idleMillicores = 10

/** A fake VM. Its life is a few timers. */
interface FakeVm {
  readonly spec: VmSpec
  readonly bornAtMs: number
  started?: StartReport
  exit?: ExitReport
  ignoresShutdown: boolean
  /**
   * True until it is known whether the VM goes on from a snapshot. If its agent dies before that, the VM
   * never existed.
   */
  unborn?: boolean
  /** The guest speaks against standby. */
  disabled?: boolean
  /** The guest said that standby suits it. What it says after that waits in `heldBack`. */
  resting?: boolean
  heldBack?: boolean
  /** The VM waits for room on the host's disk. */
  stalled?: boolean
  /** The CPU time: `timeMs` up to the time `sinceMs`, and `millicores` since then. */
  cpu: { readonly timeMs: number; readonly sinceMs: number; readonly millicores: number }
  /** What users run in the guest beside the application. */
  readonly programs: FakePrograms
  /** What follows its volume. */
  mirror?: FakeMirror
  timer?: NodeJS.Timeout
  socketTimer?: NodeJS.Timeout
}

/**
 * The fake VMs of one machine. They stay when an agent dies: a test hands the same object to the next
 * `FakeVmm`, as a real agent would find the processes again.
 */
export class FakeVms {
  readonly #vms = new Map<string, FakeVm>()
  /**
   * The number of VMs that were ever made, and the most that ran at once for one instance. Tests of restarts
   * look at both.
   */
  starts = 0
  mostOfOneInstance = 0
  readonly #awaiting: (() => void)[] = []
  readonly #listeners = new Set<(vm: VmName, exit: ExitReport) => void>()
  readonly #socketListeners = new Set<(vm: VmName) => void>()
  readonly #disabledListeners = new Set<(vm: VmName, disabled: boolean) => void>()
  readonly #stalledListeners = new Set<(vm: VmName, stalled: boolean) => void>()

  /** The number of VMs that run now, of one instance or of all. */
  running(instanceUuid?: string): number {
    const ofInterest = [...this.#vms.values()].filter(
      (vm) => instanceUuid === undefined || vm.spec.instanceUuid === instanceUuid,
    )
    return ofInterest.filter((vm) => vm.exit === undefined).length
  }

  /** The VMs that have not ended, each with the memory it was started with. */
  held(): readonly { readonly instanceUuid: string; readonly memoryMb: number }[] {
    return [...this.#vms.values()].filter((vm) => vm.exit === undefined).map((vm) => vm.spec)
  }

  find(name: VmName): FakeVm | undefined {
    return this.#vms.get(keyOf(name))
  }

  statuses(): readonly VmStatus[] {
    return [...this.#vms.values()].map(statusOf)
  }

  /** Resolves once there is a VM. */
  async firstVm(): Promise<void> {
    if (this.#vms.size > 0) return
    await new Promise<void>((resolve) => this.#awaiting.push(resolve))
  }

  add(spec: VmSpec): FakeVm {
    const bornAtMs = Date.now()
    const cpu = { timeMs: 0, sinceMs: bornAtMs, millicores: idleMillicores }
    const vm = { spec, bornAtMs, ignoresShutdown: false, cpu, programs: new FakePrograms() }
    this.#vms.set(keyOf(spec), vm)
    this.starts += 1
    this.mostOfOneInstance = Math.max(this.mostOfOneInstance, this.running(spec.instanceUuid))
    for (const resolve of this.#awaiting.splice(0)) resolve()
    return vm
  }

  /** Ends a VM. A VM that has ended already stays as it is. */
  end(name: VmName, how: Partial<ExitReport> & Pick<ExitReport, 'cause'>): void {
    const vm = this.find(name)
    if (vm === undefined || vm.exit !== undefined) return
    clearTimers(vm)
    vm.programs.lose()
    vm.mirror?.cancel()
    vm.exit = { boot: name.boot, applicationStarted: vm.started !== undefined, atMs: Date.now(), ...how }
    for (const listener of this.#listeners)
      listener({ instanceUuid: name.instanceUuid, boot: name.boot }, vm.exit)
  }

  /** Lets the application of a VM begin to listen on a socket. */
  openSocket(name: VmName): void {
    const vm = this.find(name)
    if (vm?.started === undefined || vm.exit !== undefined) return
    vm.started = { netTimeUs: Math.max(1, (Date.now() - vm.bornAtMs) * 1_000), ...vm.started }
    for (const listener of this.#socketListeners)
      listener({ instanceUuid: name.instanceUuid, boot: name.boot })
  }

  /**
   * Lets the guest begin or cease to speak against standby. What a resting guest says is held back until
   * `wake`.
   */
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

  /** Lets a guest with a volume find the host's disk full, or find room on it again. */
  setStalled(name: VmName, stalled: boolean): void {
    const vm = this.find(name)
    if (vm?.spec.volume === undefined || vm.exit !== undefined || (vm.stalled ?? false) === stalled) return
    vm.stalled = stalled
    for (const listener of this.#stalledListeners)
      listener({ instanceUuid: name.instanceUuid, boot: name.boot }, stalled)
  }

  /** Lets the VM use that much of a CPU from now on. */
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

  /** Ends what an agent that dies has copied of volumes. */
  endMirrors(): void {
    for (const { mirror } of this.#vms.values()) mirror?.cancel()
  }

  /** Lets the machine reboot: every VM is gone, and no exit is recorded. */
  reboot(): void {
    for (const vm of this.#vms.values()) clearTimers(vm)
    this.#vms.clear()
  }

  /** Lets a VM's files and process vanish without a trace. */
  lose(name: VmName): void {
    clearTimers(this.find(name))
    this.find(name)?.programs.lose()
    this.find(name)?.mirror?.cancel()
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
