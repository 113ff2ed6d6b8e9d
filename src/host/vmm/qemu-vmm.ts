import { availableParallelism } from 'node:os'
import path from 'node:path'
import type { ExitReport } from '../../domain/instance/exit-report.ts'
import type { HostMemory } from '../../domain/host/memory-room.ts'
import type { StartKind, StartReport } from '../../domain/instance/start-report.ts'
import { GuestLinks } from '../exec/guest-links.ts'
import type { ExecRequest, ExecSession } from '../exec/exec-session.ts'
import { consoleTail, readComplaint } from './failure-hint.ts'
import { isTimeout, VmHandle } from './vm-handle.ts'
import { planMachine, planRestore, snapshotKeyOf } from './machine-plan.ts'
import type { MachinePlan, PlanContext, TemplateFiles } from './machine-plan.ts'
import type { ControlGroups } from './control-groups.ts'
import { openLedger } from './memory-ledger.ts'
import type { MemoryLedger } from './memory-ledger.ts'
import { FairSemaphore } from '../../primitives/fair-semaphore.ts'
import type { TemplateStore } from './template-store.ts'
import { UserWeights } from './user-weights.ts'
import { findEvent, startSpans } from './vm-events.ts'
import { tellSpans } from '../../primitives/spans.ts'
import { deleteSnapshot, disposeSnapshot, returnSnapshot } from './snapshot-files.ts'
import { findVmRecords, instanceNames, removeVmDirectory } from './vm-record.ts'
import { snapshotFit } from './snapshot-fit.ts'
import { startLimitsMs } from './start-limits.ts'
import { killVm, spawnVm } from './vm-spawn.ts'
import { bootAgainIfStill, unlessStill } from './still-guest.ts'
import { processorTimeMs, progressOf, restOfBoot, usageOf } from './vm-usage.ts'
import { askToSleep, awaitMark, earlierSnapshot, suspendVm, takeFittingSnapshot } from './vm-standby.ts'
import { volumeComplaint } from './volume-complaint.ts'
import { execIn } from './vm-exec.ts'
import { VmMirrors } from './vm-mirror.ts'
import { VmTerms } from './vm-terms.ts'
import { VmmError } from './vmm.ts'
import type { MemoryReading, SnapshotFit, Vmm, VmName, VmSpec, VmStatus, VmUsage } from './vmm.ts'
import type { MirrorTarget, VolumeMirror } from './volume-mirror.ts'
import { WaitingKeepers } from './waiting-keepers.ts'

export interface QemuVmmOptions extends PlanContext {
  /** Holds one directory per instance; a spec's `directory` is one of them. */
  readonly instancesDirectory: string
  /** The host's memory. If absent, the number of VMs is not bounded. */
  readonly memory?: HostMemory
  /** If absent, VMs are bounded by their address space only. */
  readonly groups?: ControlGroups
  /** The file of the host's term, which has to exist before the first start. If absent, VMs keep no term. */
  readonly termPath?: string
  /** If absent, no start continues from a template. */
  readonly templates?: TemplateStore
  readonly startLimitsMs?: Partial<Record<StartKind, number>>
  /** If absent, the number of the machine's processors. */
  readonly processors?: number
  /** Called with a message about each failure that was worked around. */
  readonly onProblem?: (message: string) => void
}

/** How long a boot counts in `#boots`. A guest that hangs must not delay the boots of others for longer. */
const bootCountsForMs = 10_000
/**
 * Runs VMs with QEMU. Every VM is the child of a keeper (`guest/keeper`), which outlives this process. All
 * that is known of a VM is in its directory; this object only follows and commands it.
 */
export class QemuVmm implements Vmm {
  readonly accelerator: 'kvm' | 'tcg'
  readonly processors: number
  readonly snapshots: SnapshotFit
  readonly #options: QemuVmmOptions
  readonly #memory: MemoryLedger | undefined
  readonly #keepers: WaitingKeepers
  readonly #weights: UserWeights | undefined
  readonly #guestLinks = new GuestLinks()
  readonly #mirrors = new VmMirrors()
  /** The VMs by instance. An ended VM stays here until it is forgotten. */
  readonly #vms = new Map<string, VmHandle>()
  readonly terms = new VmTerms(this.#vms)
  /** Deletions of ended VMs' files, by instance. The instance's next VM waits for them. */
  readonly #releases = new Map<string, Promise<void>>()
  /** Deletions of used snapshots and of control groups that are under way. */
  readonly #disposals = new Set<Promise<void>>()
  /** The starts under way. A second call for the same boot waits for the first. */
  readonly #starts = new Map<string, Promise<StartReport>>()
  readonly #exitListeners: ((vm: VmName, exit: ExitReport) => void)[] = []
  readonly #socketListeners: ((vm: VmName) => void)[] = []
  readonly #disabledListeners: ((vm: VmName, disabled: boolean) => void)[] = []
  readonly #stalledListeners: ((vm: VmName, stalled: boolean) => void)[] = []
  /** An emulated guest boots in one thread: more boots of a user than cores only delay each other. */
  readonly #boots: FairSemaphore

  constructor(options: QemuVmmOptions) {
    const { processors = availableParallelism() } = options
    this.#options = options
    this.accelerator = options.accelerator
    this.processors = processors
    this.snapshots = snapshotFit(options)
    this.#memory = options.memory && openLedger(options.memory, this.#vms, options.templates)
    this.#keepers = new WaitingKeepers({
      keeperPath: options.assets.keeperPath,
      vmmPath: options.facts.qemuPath,
      ...(options.groups === undefined ? {} : { groups: options.groups }),
    })
    this.#weights = options.groups && new UserWeights(options.groups, this.#vms, processors)
    // All users together may have half as many again, so that one user's boots do not block the others.
    const [perUser, size] = [Math.ceil(processors), Math.ceil(1.5 * Math.ceil(processors))]
    this.#boots = new FairSemaphore({ perUser, size, countsForMs: bootCountsForMs })
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

  async askToSleep(name: VmName): Promise<'ready' | 'disabled'> {
    const vm = this.#find(name)
    return vm === undefined ? 'disabled' : await askToSleep(vm)
  }

  async stayAwake(name: VmName): Promise<void> {
    this.#find(name)?.stayAwake()
  }

  /** If the VM became its snapshot in an earlier call, it is not in `#vms` any more. */
  async suspend(name: VmName): Promise<{ readonly snapshotUuid: string }> {
    const vm = this.#find(name)
    if (vm === undefined) return await earlierSnapshot(this.#options.instancesDirectory, name)
    const snapshotUuid = await this.#mirrors.bound(vm, async () => await suspendVm(vm))
    await this.#release(vm)
    return { snapshotUuid }
  }

  async mirror(name: VmName, target: MirrorTarget): Promise<VolumeMirror> {
    return await this.#mirrors.begin(this.#find(name), target)
  }

  readonly dropSnapshot = deleteSnapshot

  onDisabled(listener: (vm: VmName, disabled: boolean) => void): void {
    this.#disabledListeners.push(listener)
  }

  async kill(name: VmName, cause: 'forced' | 'host-halted'): Promise<void> {
    const vm = this.#find(name)
    if (vm !== undefined) await killVm(vm, cause)
  }

  async recover(): Promise<readonly VmStatus[]> {
    const { instancesDirectory, facts } = this.#options
    for (const { directory, record } of await findVmRecords(instancesDirectory)) {
      if (this.#vms.has(record.instanceUuid)) continue
      const vm = new VmHandle({ directory, record, hostBootId: facts.bootId })
      await vm.rediscover()
      // Nothing to report: the agent died before it had started the VM, or the VM has become its snapshot.
      if (!vm.existed || (vm.isSuspended && vm.isOver)) await removeVmDirectory(directory)
      else this.#follow(vm)
      this.#keepers.adoptVm(record)
    }
    this.#keepers.replenish()
    this.#weights?.start()
    for (const name of await instanceNames(instancesDirectory)) {
      if (this.#vms.has(name)) continue
      await returnSnapshot(path.join(instancesDirectory, name), facts.bootId)
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

  onStalled(listener: (vm: VmName, stalled: boolean) => void): void {
    this.#stalledListeners.push(listener)
  }

  async usage(name: VmName): Promise<VmUsage | undefined> {
    const vm = this.#find(name)
    return vm && (await usageOf(vm))
  }

  cpuTimeMs(name: VmName): number | undefined {
    const vm = this.#find(name)
    return vm && processorTimeMs(vm)
  }

  checkMemory({ instanceUuid, memoryMb }: Pick<VmSpec, 'instanceUuid' | 'memoryMb'>): void {
    // A VM that exists was admitted already.
    if (!this.#vms.has(instanceUuid)) this.#memory?.check(instanceUuid, memoryMb)
  }

  memory(): MemoryReading | undefined {
    return this.#memory?.read()
  }

  async forget(name: VmName): Promise<void> {
    const vm = this.#find(name)
    if (vm?.exit !== undefined) await this.#release(vm)
  }

  async exec(name: VmName, request: ExecRequest): Promise<ExecSession> {
    return await execIn(this.#guestLinks, this.#find(name), request)
  }

  async close(): Promise<void> {
    this.#guestLinks.close()
    this.#mirrors.close()
    this.#weights?.stop()
    for (const vm of this.#vms.values()) vm.release()
    this.#vms.clear()
    await Promise.all([this.#keepers.close(), ...this.#releases.values()])
    await Promise.all(this.#disposals)
    await this.#options.templates?.close()
    await this.#options.groups?.close()
  }

  /** Deletes the files and groups of a VM that is over. */
  async #release(vm: VmHandle): Promise<void> {
    const { instanceUuid } = vm.record
    const under = this.#releases.get(instanceUuid)
    if (under !== undefined) return await under
    if (this.#vms.get(instanceUuid) !== vm) return
    this.#vms.delete(instanceUuid)
    vm.release()
    // Deleted first: if there is no VM's directory, `recover` takes a used snapshot for an unused one.
    const ran = findEvent(vm.events, 'running') !== undefined
    const disposing = ran ? disposeSnapshot(path.dirname(vm.directory)) : Promise.resolve()
    const releasing = disposing
      .then(async () => await removeVmDirectory(vm.directory))
      .finally(() => this.#releases.delete(instanceUuid))
    this.#removeGroup(vm)
    this.#releases.set(instanceUuid, releasing)
    await releasing
  }

  /** The VM's keeper may still be in the group, so the removal goes on in the background. */
  #removeGroup({ record: { group } }: VmHandle): void {
    const { groups } = this.#options
    if (group === undefined || groups === undefined) return
    const removal = groups.remove(group).finally(() => this.#disposals.delete(removal))
    this.#disposals.add(removal)
  }

  #find(name: VmName): VmHandle | undefined {
    const vm = this.#vms.get(name.instanceUuid)
    return vm?.record.boot === name.boot ? vm : undefined
  }

  async #start(spec: VmSpec, signal: AbortSignal = new AbortController().signal): Promise<StartReport> {
    const askedAtUs = Math.round((performance.timeOrigin + performance.now()) * 1000)
    const known = this.#vms.get(spec.instanceUuid)
    if (known !== undefined) {
      const { instanceUuid, boot } = known.record
      // An earlier call started this VM, perhaps in an earlier process.
      if (boot === spec.boot) return await this.#awaitStart(known, spec, signal)
      throw new VmmError('BootFailed', `boot ${boot} of ${instanceUuid} is not forgotten yet`)
    }
    await this.#releases.get(spec.instanceUuid)
    const admitted = this.#memory?.admit(spec.instanceUuid, spec.memoryMb)
    try {
      return await this.#startAdmitted(spec, askedAtUs, signal)
    } finally {
      admitted?.()
    }
  }

  async #startAdmitted(spec: VmSpec, askedAtUs: number, signal: AbortSignal): Promise<StartReport> {
    if (spec.restore) {
      const report = await this.#tryRestore(spec, askedAtUs, signal)
      if (report !== undefined) return report
      await spec.volume?.checkAfresh?.(signal)
    }
    const template = this.#options.templates?.take(spec)
    if (template !== undefined) {
      const report = await this.#tryTemplate(spec, template, askedAtUs, signal)
      if (report !== undefined) return report
    }
    return await this.#boots.run(spec.userUuid, signal, async () => {
      signal.throwIfAborted()
      const plan = planMachine(spec, this.#options)
      const boot = async () => await this.#spawnAndAwait(spec, plan, askedAtUs, signal)
      const report = await bootAgainIfStill(boot, this.#options.onProblem)
      // Not beside the boot that somebody waits for: the template would take half of its processor.
      this.#options.templates?.provide(spec)
      return report
    })
  }

  /** Undefined if no snapshot fits, or the restore failed. The snapshot is used up either way. */
  async #tryRestore(spec: VmSpec, askedAtUs: number, signal: AbortSignal): Promise<StartReport | undefined> {
    const { facts } = this.#options
    const snapshotKey = snapshotKeyOf(spec, this.#options)
    const snapshot = await takeFittingSnapshot(spec.directory, snapshotKey, facts.bootId)
    if (snapshot === undefined) return undefined
    try {
      await awaitMark(snapshot, spec, this.#options.onProblem)
      const plan = planRestore(spec, this.#options, snapshot)
      return await this.#spawnAndAwait(spec, plan, askedAtUs, signal)
    } catch (error) {
      if (signal.aborted || !(error instanceof VmmError) || error.failure !== 'BootFailed') throw error
      this.#options.onProblem?.(`a snapshot could not be continued: ${error.message}`)
      return undefined
    } finally {
      const disposal = snapshot.dispose().finally(() => this.#disposals.delete(disposal))
      this.#disposals.add(disposal)
    }
  }

  /** Undefined if the start failed. A plain boot is next; `reject` decides whether the template is kept. */
  async #tryTemplate(
    spec: VmSpec,
    template: TemplateFiles,
    askedAtUs: number,
    signal: AbortSignal,
  ): Promise<StartReport | undefined> {
    try {
      const plan = planMachine(spec, this.#options, template)
      const report = await this.#spawnAndAwait(spec, plan, askedAtUs, signal)
      this.#options.templates?.prove(spec)
      return report
    } catch (error) {
      if (signal.aborted || !(error instanceof VmmError) || error.failure !== 'BootFailed') throw error
      this.#options.templates?.reject(spec, { message: error.message, wasLate: isTimeout(error.cause) })
      return undefined
    }
  }

  async #spawnAndAwait(spec: VmSpec, plan: MachinePlan, askedAtUs: number, signal: AbortSignal) {
    const spawned = spawnVm({ spec, plan, askedAtUs, options: this.#options, keepers: this.#keepers })
    const vm = await this.terms.following(spawned, (made) => this.#follow(made))
    return await this.#awaitStart(vm, spec, signal)
  }

  /** Waits for the application. A failure also ends the VM: a failed start leaves nothing. */
  async #awaitStart(vm: VmHandle, spec: VmSpec, signal: AbortSignal): Promise<StartReport> {
    const { kind } = vm.record
    const limitMs = this.#options.startLimitsMs?.[kind] ?? startLimitsMs[kind]
    try {
      await unlessStill(
        () => restOfBoot(vm),
        AbortSignal.any([signal, AbortSignal.timeout(limitMs)]),
        async (unended) => await vm.until(() => vm.status.started !== undefined, unended),
      )
    } catch (error) {
      const { stalled } = vm.status
      const late = `no application within ${limitMs / 1000} s (${progressOf(vm)})`
      await this.#discard(vm)
      if (!isTimeout(error)) throw error
      if (stalled === true)
        throw new VmmError('HostFull', 'the disk of the host is full: the volume could not be mounted')
      throw new VmmError('BootFailed', `${late}${consoleTail(spec.consoleDirectory)}`, { cause: error })
    }
    const { started } = vm.status
    tellSpans(() => startSpans(vm.record, vm.events))
    const complaint = spec.volume && volumeComplaint(vm.events, spec.volume)
    if (complaint !== undefined) {
      await this.#discard(vm)
      throw new VmmError('VolumeUnusable', complaint)
    }
    // A VMM that ended early has a start report too. But its CPUs never ran, so the start has failed.
    if (started !== undefined && findEvent(vm.events, 'running') !== undefined) return started
    const said = readComplaint(vm.directory)
    await this.#discard(vm)
    throw new VmmError('BootFailed', `the VMM ended before the guest ran${said}`)
  }

  async #discard(vm: VmHandle): Promise<void> {
    for (const news of ['listening', 'ended'] as const) vm.removeAllListeners(news)
    await killVm(vm, 'forced')
    await this.forget(vm.name)
  }

  #follow(vm: VmHandle): void {
    this.#vms.set(vm.record.instanceUuid, vm)
    vm.once('listening', () => {
      for (const listener of this.#socketListeners) listener(vm.name)
    })
    vm.on('disabled', (disabled) => {
      for (const listener of this.#disabledListeners) listener(vm.name, disabled)
    })
    vm.on('stalled', (stalled) => {
      for (const listener of this.#stalledListeners) listener(vm.name, stalled)
    })
    // The suspension may be one that an earlier agent asked for.
    vm.once('suspended', () => void this.#release(vm))
    vm.once('ended', (exit) => {
      for (const listener of this.#exitListeners) listener(vm.name, exit)
    })
  }
}
