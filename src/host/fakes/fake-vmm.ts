import { randomUUID } from 'node:crypto'
import { rename } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { ExitCause } from '../../domain/instance/exit-report.ts'
import type { ExitReport } from '../../domain/instance/exit-report.ts'
import { StartKind } from '../../domain/instance/start-report.ts'
import type { HostMemory } from '../../domain/host/memory-room.ts'
import type { StartReport } from '../../domain/instance/start-report.ts'
import { ConsoleWriter } from '../console/console-writer.ts'
import { ExecRefused } from '../exec/exec-session.ts'
import type { ExecRequest, ExecSession } from '../exec/exec-session.ts'
import { checkRequest } from '../exec/guest-link.ts'
import { ownKernelRefusal } from '../vmm/vm-exec.ts'
import { FakeMirror } from './fake-mirror.ts'
import { FakeVms, shutdownExit, statusOf } from './fake-vms.ts'
import { MemoryLedger } from '../vmm/memory-ledger.ts'
import type { MemoryReading } from '../vmm/vmm.ts'
import type { MirrorTarget, VolumeMirror } from '../vmm/volume-mirror.ts'
import {
  beginSnapshot,
  deleteSnapshot,
  disposeSnapshot,
  newSnapshotDirectory,
  readSnapshot,
  snapshotDirectory,
  takeSnapshot,
} from '../vmm/snapshot-files.ts'
import { VmmError } from '../vmm/vmm.ts'
import type { SnapshotFit, SnapshotShape, Vmm, VmName, VmSpec, VmStatus, VmUsage } from '../vmm/vmm.ts'

export interface FakeVmmOptions {
  /** The VMs of the machine. Without it the fake has VMs of its own. */
  readonly vms?: FakeVms
  /** The host's memory. Without it the number of VMs has no bound. */
  readonly memory?: HostMemory
  /** How many processors the host pretends to have. If absent, those of this machine. */
  readonly processors?: number
  readonly bootMs?: number
  /** The nth start (from 1) throws `BootFailed`. */
  readonly failStart?: number
  /** The nth start never reaches its application; aborting it ends it. */
  readonly hangStart?: number
  /** When and how an application ends if its arguments do not say it. */
  readonly exitAfterMs?: number
  readonly exitCode?: number
  /**
   * When an application begins to listen on a socket, if its arguments do not say it. Without this it never
   * does.
   */
  readonly listenAfterMs?: number
  /**
   * The times that a guest takes to answer about standby, that a snapshot takes, and that a restore takes.
   */
  readonly askMs?: number
  readonly suspendMs?: number
  readonly restoreMs?: number
  /** The nth suspend (from 1) throws, and the VM runs on. */
  readonly failSuspend?: number
  /** No snapshot fits, as after an upgrade of the VMM. */
  readonly unfitSnapshots?: boolean
  /** The nth restore (from 1) fails, and the VM boots afresh. */
  readonly failRestore?: number
}

/**
 * A VMM without VMs, for tests and for loads on the control plane. The arguments of the instance steer the
 * fake application:
 *
 *   exit-after=MS  ends by itself after MS        exit-code=N  with this code (0)     signal=N  by this signal
 *   panic          its end is a kernel panic      ignore-shutdown  it has to be killed when its grace is over
 *   listen-after=MS  its first socket listens after MS
 *   volume-unusable  its volume is unusable, so the start fails    stalled  it waits for the host's disk until `FakeVms.setStalled`
 *   disabled-after=MS  it speaks against standby after MS; `FakeVms.setDisabled` does it at any time
 *   cpu=N          it uses N thousandths of a CPU (10) once it runs; `FakeVms.setCpu` does it at any time
 *
 * A suspended VM is a snapshot in the instance's directory, as with the real VMM. It outlives the agent and
 * a reboot of the machine.
 */
export class FakeVmm implements Vmm {
  /** Fake VMs end with their agent, so the agent alone sees to the term. */
  readonly terms = { isKept: () => true, heed: async () => await Promise.resolve(true) }
  readonly accelerator = 'fake'
  readonly snapshots: SnapshotFit = {
    machine: { processor: 'fake' },
    misfitOf: ({ snapshotKey }, shape) =>
      this.#options.unfitSnapshots !== true && snapshotKey === snapshotKeyOf(shape)
        ? undefined
        : 'the processor is another one',
  }
  readonly processors: number
  readonly vms: FakeVms
  readonly #options: FakeVmmOptions
  readonly #memory: MemoryLedger | undefined
  readonly #unlisten: (() => void)[] = []
  #starts = 0
  #suspends = 0
  #restores = 0

  constructor(options: FakeVmmOptions = {}) {
    this.#options = options
    this.processors = options.processors ?? availableParallelism()
    this.vms = options.vms ?? new FakeVms()
    const running = () => this.vms.held()
    const noTemplates = { templatesMb: () => 0, dropTemplates: () => undefined }
    this.#memory = options.memory && new MemoryLedger(options.memory, { running, ...noTemplates })
  }

  async start(spec: VmSpec, signal?: AbortSignal): Promise<StartReport> {
    const known = this.vms.find(spec)
    if (known?.started !== undefined) return known.started
    const admitted = this.#memory?.admit(spec.instanceUuid, spec.memoryMb)
    try {
      return await this.#start(spec, known, signal)
    } finally {
      admitted?.()
    }
  }

  async #start(
    spec: VmSpec,
    known: ReturnType<FakeVms['find']>,
    signal: AbortSignal | undefined,
  ): Promise<StartReport> {
    this.#starts += 1
    signal?.throwIfAborted()
    if (this.#starts === this.#options.failStart) throw new VmmError('BootFailed', 'the start fails as asked')
    if (spec.volume !== undefined && spec.process.argv.includes('volume-unusable'))
      throw new VmmError('VolumeUnusable', 'the volume is as unusable as asked')
    const vm = known ?? this.vms.add(spec)
    vm.unborn = known === undefined && spec.restore
    const restored = spec.restore && (await this.#restore(spec))
    if (vm.unborn && !restored) await this.#check(spec, signal)
    vm.unborn = false
    const hangs = this.#starts === this.#options.hangStart
    const startMs = (restored ? this.#options.restoreMs : this.#options.bootMs) ?? 0
    await this.#boot(spec, hangs ? undefined : startMs, signal)
    const bootTimeUs = Math.max(1, (Date.now() - vm.bornAtMs) * 1_000)
    vm.started ??= {
      boot: spec.boot,
      kind: restored ? StartKind.Restore : StartKind.Boot,
      startedAtMs: Date.now(),
      bootTimeUs,
      vmmStartTimeUs: 100,
      vmmLoadTimeUs: 200,
      vmmReadyTimeUs: 300,
    }
    await this.#enter(spec, restored)
    return vm.started
  }

  async shutdown(name: VmName, options: { readonly graceMs: number }): Promise<void> {
    const vm = this.vms.find(name)
    if (vm === undefined) return
    if (!vm.ignoresShutdown) this.vms.end(name, shutdownExit)
    else {
      clearTimeout(vm.timer)
      vm.timer = setTimeout(() => {
        this.vms.end(name, { cause: ExitCause.Guest, signal: 9, killedAtShutdown: true })
      }, options.graceMs)
    }
    await Promise.resolve()
  }

  async askToSleep(name: VmName): Promise<'ready' | 'disabled'> {
    if (this.#options.askMs !== undefined) await delay(this.#options.askMs)
    const vm = this.vms.find(name)
    if (vm?.started === undefined || vm.exit !== undefined || vm.disabled === true) return 'disabled'
    this.vms.rest(name)
    return 'ready'
  }

  async stayAwake(name: VmName): Promise<void> {
    this.vms.wake(name)
    await Promise.resolve()
  }

  async suspend(name: VmName): Promise<{ readonly snapshotUuid: string }> {
    this.#suspends += 1
    const fails = this.#suspends === this.#options.failSuspend
    if (this.#options.suspendMs !== undefined) await delay(this.#options.suspendMs)
    const vm = this.vms.find(name)
    if (fails || vm?.started === undefined || vm.exit !== undefined) {
      vm?.mirror?.cancel()
      this.vms.wake(name)
      throw new VmmError('BootFailed', fails ? 'the suspend fails as asked' : 'there is no VM to suspend')
    }
    const isMirrored = await vm.mirror?.finish()
    const { directory } = vm.spec
    const record = {
      schemaVersion: 1 as const,
      uuid: randomUUID(),
      boot: name.boot,
      snapshotKey: snapshotKeyOf(vm.spec),
    }
    await deleteSnapshot(directory)
    await beginSnapshot(directory, record)
    await rename(newSnapshotDirectory(directory), snapshotDirectory(directory))
    if (isMirrored === true) vm.mirror?.complete()
    this.vms.lose(name)
    return { snapshotUuid: record.uuid }
  }

  async mirror(name: VmName, target: MirrorTarget): Promise<VolumeMirror> {
    const vm = this.vms.find(name)
    const cannot = vm?.started === undefined || vm.exit !== undefined || vm.mirror !== undefined
    if (cannot || vm.spec.volume === undefined)
      throw new VmmError('BootFailed', 'the volume of the VM can not be copied while it runs')
    const mirror = new FakeMirror(vm.spec.volume.path, target)
    vm.mirror = mirror
    this.#unlisten.push(() => mirror.cancel())
    void mirror.over.then(() => delete vm.mirror)
    return await Promise.resolve(mirror)
  }

  async dropSnapshot(directory: string): Promise<void> {
    await deleteSnapshot(directory)
  }

  onDisabled(listener: (vm: VmName, disabled: boolean) => void): void {
    this.#unlisten.push(this.vms.listenForDisabled(listener))
  }

  async kill(name: VmName, cause: 'forced' | 'host-halted'): Promise<void> {
    this.vms.end(name, { cause })
    await Promise.resolve()
  }

  async recover(): Promise<readonly VmStatus[]> {
    this.vms.forgetUnborn()
    return await Promise.resolve(this.vms.statuses())
  }

  async status(name: VmName): Promise<VmStatus | undefined> {
    const vm = this.vms.find(name)
    return await Promise.resolve(vm === undefined ? undefined : statusOf(vm))
  }

  onExit(listener: (vm: VmName, exit: ExitReport) => void): void {
    this.#unlisten.push(this.vms.listen(listener))
  }

  onListening(listener: (vm: VmName) => void): void {
    this.#unlisten.push(this.vms.listenForSockets(listener))
  }

  onStalled(listener: (vm: VmName, stalled: boolean) => void): void {
    this.#unlisten.push(this.vms.listenForStalled(listener))
  }

  /** The CPU time of `setCpu`, and 32 MiB of memory while the VM runs. */
  async usage(name: VmName): Promise<VmUsage | undefined> {
    const cpuTimeMs = this.cpuTimeMs(name)
    const rssBytes = this.vms.find(name)?.exit === undefined ? 32 * 1024 * 1024 : 0
    return await Promise.resolve(cpuTimeMs === undefined ? undefined : { rssBytes, cpuTimeMs })
  }

  cpuTimeMs(name: VmName): number | undefined {
    return this.vms.cpuTimeMs(name)
  }

  checkMemory(vm: Pick<VmSpec, 'instanceUuid' | 'boot' | 'memoryMb'>): void {
    if (this.vms.find(vm)?.started === undefined) this.#memory?.check(vm.instanceUuid, vm.memoryMb)
  }

  memory(): MemoryReading | undefined {
    return this.#memory?.read()
  }

  async forget(name: VmName): Promise<void> {
    this.vms.forget(name)
    await Promise.resolve()
  }

  async exec(name: VmName, request: ExecRequest): Promise<ExecSession> {
    const vm = this.vms.find(name)
    if (vm?.started === undefined || vm.exit !== undefined)
      throw new ExecRefused('not-running', 'the instance does not run')
    if (vm.spec.image.kind === 'kernel') throw new ExecRefused('unable', ownKernelRefusal)
    checkRequest(request)
    return await Promise.resolve(vm.programs.run(request))
  }

  async close(): Promise<void> {
    for (const unlisten of this.#unlisten) unlisten()
    await Promise.resolve()
  }

  /** Uses the snapshot up, if there is one. Returns false if the start has to be a boot. */
  async #restore(spec: VmSpec): Promise<boolean> {
    const snapshot = await readSnapshot(spec.directory)
    if (snapshot === undefined) return false
    await takeSnapshot(spec.directory, '')
    await disposeSnapshot(spec.directory)
    this.#restores += 1
    const fits = this.#options.unfitSnapshots !== true && snapshot.snapshotKey === snapshotKeyOf(spec)
    return fits && this.#restores !== this.#options.failRestore
  }

  /**
   * Checks the volume before a boot. If that fails, the VM's entry vanishes, because no process exists yet.
   */
  async #check(spec: VmSpec, signal = new AbortController().signal): Promise<void> {
    try {
      await spec.volume?.checkAfresh?.(signal)
    } catch (error) {
      this.vms.lose(spec)
      throw error
    }
  }

  /** Takes as long as a boot; with `bootMs` undefined, for ever. An abort ends the VM. */
  async #boot(spec: VmSpec, bootMs: number | undefined, signal: AbortSignal | undefined): Promise<void> {
    if (bootMs === 0) return
    await new Promise<void>((resolve, reject) => {
      const timer = bootMs === undefined ? undefined : setTimeout(resolve, bootMs)
      signal?.addEventListener('abort', () => {
        clearTimeout(timer)
        this.vms.end(spec, { cause: ExitCause.Forced })
        reject(signal.reason as Error)
      })
    })
  }

  async #enter(spec: VmSpec, restored: boolean): Promise<void> {
    const vm = this.vms.find(spec)
    if (vm === undefined || vm.exit !== undefined) return
    const told = new Map(spec.process.argv.map((argument) => pairOf(argument)))
    if (!restored) {
      const line = Buffer.from(`running ${spec.process.argv.join(' ')}\n`)
      await new ConsoleWriter(spec.consoleDirectory).append(line)
    }
    vm.ignoresShutdown = told.has('ignore-shutdown')
    if (told.has('stalled')) this.vms.setStalled(spec, true)
    const millicores = numberOf(told.get('cpu'))
    if (millicores !== undefined) this.vms.setCpu(spec, millicores)
    const disabledMs = numberOf(told.get('disabled-after'))
    if (disabledMs !== undefined) {
      setTimeout(() => {
        this.vms.setDisabled(spec, true)
      }, disabledMs).unref()
    }
    const listenMs = numberOf(told.get('listen-after')) ?? this.#options.listenAfterMs
    if (listenMs !== undefined) {
      vm.socketTimer = setTimeout(() => {
        this.vms.openSocket(spec)
      }, listenMs)
      vm.socketTimer.unref()
    }
    const afterMs = numberOf(told.get('exit-after')) ?? this.#options.exitAfterMs
    if (afterMs === undefined) return
    vm.timer = setTimeout(() => {
      this.vms.end(spec, this.#endOf(told))
    }, afterMs)
    vm.timer.unref()
  }

  #endOf(told: ReadonlyMap<string, string>): Partial<ExitReport> & Pick<ExitReport, 'cause'> {
    if (told.has('panic')) return { cause: ExitCause.KernelPanic }
    const signal = numberOf(told.get('signal'))
    if (signal !== undefined) return { cause: ExitCause.Guest, signal }
    return {
      cause: ExitCause.Guest,
      exitCode: numberOf(told.get('exit-code')) ?? this.#options.exitCode ?? 0,
    }
  }
}

function snapshotKeyOf({ volume }: Pick<SnapshotShape, 'volume'>): string {
  return volume === undefined ? 'fake' : `fake ${volume.uuid} ${volume.readonly ? 'readonly' : 'writable'}`
}

function pairOf(argument: string): readonly [string, string] {
  const equals = argument.indexOf('=')
  return equals < 0 ? [argument, ''] : [argument.slice(0, equals), argument.slice(equals + 1)]
}

function numberOf(text: string | undefined): number | undefined {
  return text === undefined || !/^\d+$/.test(text) ? undefined : Number(text)
}
