import { availableParallelism } from 'node:os'
import type { ExitReport } from '../../domain/exit-report.ts'
import type { StartReport } from '../../domain/start-report.ts'
import { consoleTail, readComplaint } from './failure-hint.ts'
import { KeptVm } from './kept-vm.ts'
import { planMachine } from './machine-plan.ts'
import type { MachinePlan, PlanContext, TemplateFiles } from './machine-plan.ts'
import { MemoryGroups } from './memory-group.ts'
import { readProcessUsage } from './process-stat.ts'
import { Slots } from './slots.ts'
import type { TemplateStore } from './template-store.ts'
import { cpuTimeMsOf, findEvent } from './vm-events.ts'
import { findVmRecords, removeVmDirectory } from './vm-record.ts'
import { killVm, spawnVm } from './vm-spawn.ts'
import { VmmError } from './vmm.ts'
import type { Vmm, VmName, VmSpec, VmStatus, VmUsage } from './vmm.ts'

export interface QemuVmmOptions extends PlanContext {
  /** Holds one directory per instance; a spec's `directory` is one of them. */
  readonly instancesDirectory: string
  /** Absent: every start is a plain boot. */
  readonly templates?: TemplateStore
  readonly bootLimitMs?: number
  readonly bootsAtOnce?: number
}

/** Emulated, a guest needs about a second; many at once on a busy host need many. */
const defaultBootLimitMs = 60_000
/** A template needs a third of a second; one that takes this long is not worth waiting for. */
const templateLimitMs = 10_000

/**
 * Runs VMs with QEMU. Every VM is the child of a keeper (`guest/keeper`), which outlives this process; all that is
 * known of a VM is in its directory, and this object only follows and commands.
 */
export class QemuVmm implements Vmm {
  readonly accelerator: 'kvm' | 'tcg'
  readonly #options: QemuVmmOptions
  readonly #groups: MemoryGroups
  /** By instance; an ended VM stays until it is forgotten. */
  readonly #vms = new Map<string, KeptVm>()
  /** Starts under way, so that asking twice starts once. */
  readonly #starts = new Map<string, Promise<StartReport>>()
  readonly #exitListeners: ((vm: VmName, exit: ExitReport) => void)[] = []
  readonly #socketListeners: ((vm: VmName) => void)[] = []
  /** Emulated guests boot in one thread each: more at once than cores only make all of them late. */
  readonly #bootSlots: Slots

  constructor(options: QemuVmmOptions) {
    this.#options = options
    this.accelerator = options.accelerator
    this.#groups = new MemoryGroups(options.facts.isRoot)
    this.#bootSlots = new Slots(options.bootsAtOnce ?? availableParallelism())
  }

  async start(spec: VmSpec, signal?: AbortSignal): Promise<StartReport> {
    const key = `${spec.instanceUuid}/${spec.boot}`
    const under = this.#starts.get(key)
    if (under !== undefined) return await under
    const starting = this.#start(spec, signal).finally(() => this.#starts.delete(key))
    this.#starts.set(key, starting)
    return await starting
  }

  async shutdown(name: VmName, options: { readonly graceMs: number }): Promise<void> {
    this.#find(name)?.shutdown(options.graceMs)
  }

  async kill(name: VmName, cause: 'forced' | 'host-halted'): Promise<void> {
    const vm = this.#find(name)
    if (vm !== undefined) await killVm(vm, cause)
  }

  async recover(): Promise<readonly VmStatus[]> {
    const { instancesDirectory, facts } = this.#options
    for (const { directory, record } of await findVmRecords(instancesDirectory)) {
      if (this.#vms.has(record.instanceUuid)) continue
      const vm = new KeptVm({ directory, record, hostBootId: facts.bootId })
      await vm.rediscover()
      // Its agent died before there was a VM: nothing ran, and nothing is to be reported.
      if (!vm.existed) await removeVmDirectory(directory)
      else this.#follow(vm)
    }
    return [...this.#vms.values()].map((vm) => vm.status)
  }

  async status(name: VmName): Promise<VmStatus | undefined> {
    return this.#find(name)?.status
  }

  onExit(listener: (vm: VmName, exit: ExitReport) => void): void {
    this.#exitListeners.push(listener)
  }

  onListening(listener: (vm: VmName) => void): void {
    this.#socketListeners.push(listener)
  }

  async usage(name: VmName): Promise<VmUsage | undefined> {
    const vm = this.#find(name)
    const [pid, startTime] = findEvent(vm?.events ?? [], 'qemu')?.words ?? []
    if (vm === undefined || pid === undefined || startTime === undefined) return undefined
    const live = vm.exit === undefined ? await readProcessUsage(Number(pid), startTime) : undefined
    return live ?? { rssBytes: 0, cpuTimeMs: cpuTimeMsOf(vm.events) ?? 0 }
  }

  async forget(name: VmName): Promise<void> {
    const vm = this.#find(name)
    if (vm?.exit === undefined) return
    this.#vms.delete(name.instanceUuid)
    vm.release()
    await removeVmDirectory(vm.directory)
    await this.#groups.remove(name.instanceUuid)
  }

  async close(): Promise<void> {
    for (const vm of this.#vms.values()) vm.release()
    this.#vms.clear()
    await this.#options.templates?.close()
  }

  #find(name: VmName): KeptVm | undefined {
    const vm = this.#vms.get(name.instanceUuid)
    return vm?.record.boot === name.boot ? vm : undefined
  }

  async #start(spec: VmSpec, signal: AbortSignal = new AbortController().signal): Promise<StartReport> {
    const askedAtUs = Math.round((performance.timeOrigin + performance.now()) * 1000)
    const known = this.#vms.get(spec.instanceUuid)
    if (known !== undefined) return await this.#resume(known, spec, signal)
    const template = this.#options.templates?.take(spec)
    if (template !== undefined) {
      const report = await this.#tryTemplate(spec, template, askedAtUs, signal)
      if (report !== undefined) return report
    }
    return await this.#bootSlots.run(async () => {
      signal.throwIfAborted()
      const report = await this.#bringUp(spec, planMachine(spec, this.#options), askedAtUs, signal)
      // Not earlier: beside the boot that somebody waits for, it would take half of its processor.
      this.#options.templates?.provide(spec)
      return report
    })
  }

  /** A VM of that name is there: an earlier call started it, perhaps of an earlier process. */
  async #resume(vm: KeptVm, spec: VmSpec, signal: AbortSignal): Promise<StartReport> {
    if (vm.record.boot !== spec.boot) {
      throw new VmmError('BootFailed', `boot ${vm.record.boot} of ${spec.instanceUuid} is not forgotten yet`)
    }
    const limitMs = this.#options.bootLimitMs ?? defaultBootLimitMs
    return await this.#awaitStart(vm, spec, AbortSignal.any([signal, AbortSignal.timeout(limitMs)]))
  }

  /** Undefined when the template did not work out; then it is given up and the plain boot is next. */
  async #tryTemplate(
    spec: VmSpec,
    template: TemplateFiles,
    askedAtUs: number,
    signal: AbortSignal,
  ): Promise<StartReport | undefined> {
    try {
      const plan = planMachine(spec, this.#options, template)
      return await this.#bringUp(spec, plan, askedAtUs, signal, templateLimitMs)
    } catch (error) {
      if (signal.aborted || !(error instanceof VmmError) || error.failure !== 'BootFailed') throw error
      this.#options.templates?.reject(spec, error.message)
      return undefined
    }
  }

  async #bringUp(
    spec: VmSpec,
    plan: MachinePlan,
    askedAtUs: number,
    signal: AbortSignal,
    limitMs = this.#options.bootLimitMs ?? defaultBootLimitMs,
  ): Promise<StartReport> {
    const vm = await spawnVm({ spec, plan, askedAtUs, options: this.#options, groups: this.#groups })
    this.#follow(vm)
    return await this.#awaitStart(vm, spec, AbortSignal.any([signal, AbortSignal.timeout(limitMs)]))
  }

  /** Whatever keeps the VM from its application also ends it: a start that fails leaves nothing. */
  async #awaitStart(vm: KeptVm, spec: VmSpec, signal: AbortSignal): Promise<StartReport> {
    try {
      await vm.until(() => vm.status.started !== undefined, signal)
    } catch (error) {
      await this.#discard(vm)
      if (!isTimeout(error)) throw error
      const seconds = Math.round((this.#options.bootLimitMs ?? defaultBootLimitMs) / 1000)
      throw new VmmError(
        'BootFailed',
        `no application within ${seconds} s${consoleTail(spec.consoleDirectory)}`,
      )
    }
    const { started } = vm.status
    // A VMM that ended before its CPUs ran never was a VM.
    if (started !== undefined && findEvent(vm.events, 'running') !== undefined) return started
    const complaint = readComplaint(vm.directory)
    await this.#discard(vm)
    throw new VmmError('BootFailed', `the VMM ended before the guest ran${complaint}`)
  }

  async #discard(vm: KeptVm): Promise<void> {
    vm.removeAllListeners('listening')
    vm.removeAllListeners('ended')
    await killVm(vm, 'forced')
    await this.forget(vm.name)
  }

  #follow(vm: KeptVm): void {
    this.#vms.set(vm.record.instanceUuid, vm)
    vm.once('listening', () => {
      for (const listener of this.#socketListeners) listener(vm.name)
    })
    vm.once('ended', (exit) => {
      for (const listener of this.#exitListeners) listener(vm.name, exit)
    })
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError'
}
