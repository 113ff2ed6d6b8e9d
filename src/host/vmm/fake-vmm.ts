import { ExitCause } from '../../domain/exit-report.ts'
import type { ExitReport } from '../../domain/exit-report.ts'
import { StartKind } from '../../domain/start-report.ts'
import type { StartReport } from '../../domain/start-report.ts'
import { ConsoleWriter } from '../console/console-writer.ts'
import { FakeHost, shutdownExit, statusOf } from './fake-host.ts'
import { VmmError } from './vmm.ts'
import type { Vmm, VmName, VmSpec, VmStatus, VmUsage } from './vmm.ts'

export interface FakeVmmOptions {
  readonly host?: FakeHost
  readonly bootMs?: number
  /** The nth start (from 1) throws `BootFailed`. */
  readonly failStart?: number
  /** The nth start never reaches its application; aborting it ends it. */
  readonly hangStart?: number
  /** What an application does when nothing in its arguments says so. */
  readonly exitAfterMs?: number
  readonly exitCode?: number
  /** Likewise, when it begins to listen on a socket; without it, it never does. */
  readonly listenAfterMs?: number
}

/**
 * A VMM without VMs, for tests and for loads on the control plane. Arguments of the instance steer the pretended
 * application:
 *
 *   exit-after=MS  ends by itself after MS        exit-code=N  with this code (0)     signal=N  by this signal
 *   panic          its end is a kernel panic      ignore-shutdown  it has to be killed when its grace is over
 *   listen-after=MS  its first socket listens after MS
 */
export class FakeVmm implements Vmm {
  readonly accelerator = 'fake'
  readonly host: FakeHost
  readonly #options: FakeVmmOptions
  readonly #unlisten: (() => void)[] = []
  #starts = 0

  constructor(options: FakeVmmOptions = {}) {
    this.#options = options
    this.host = options.host ?? new FakeHost()
  }

  async start(spec: VmSpec, signal?: AbortSignal): Promise<StartReport> {
    const known = this.host.find(spec)
    if (known?.started !== undefined) return known.started
    this.#starts += 1
    signal?.throwIfAborted()
    if (this.#starts === this.#options.failStart) throw new VmmError('BootFailed', 'the start fails as asked')
    const vm = known ?? this.host.add(spec)
    const hangs = this.#starts === this.#options.hangStart
    await this.#boot(spec, hangs ? undefined : (this.#options.bootMs ?? 0), signal)
    const bootTimeUs = Math.max(1, (Date.now() - vm.bornAtMs) * 1_000)
    vm.started ??= {
      boot: spec.boot,
      kind: StartKind.Boot,
      startedAtMs: Date.now(),
      bootTimeUs,
      vmmStartTimeUs: 100,
      vmmLoadTimeUs: 200,
      vmmReadyTimeUs: 300,
    }
    await this.#enter(spec)
    return vm.started
  }

  async shutdown(name: VmName, options: { readonly graceMs: number }): Promise<void> {
    const vm = this.host.find(name)
    if (vm === undefined) return
    if (!vm.ignoresShutdown) this.host.end(name, shutdownExit)
    else {
      clearTimeout(vm.timer)
      vm.timer = setTimeout(() => {
        this.host.end(name, { cause: ExitCause.Guest, signal: 9, killedAtShutdown: true })
      }, options.graceMs)
    }
    await Promise.resolve()
  }

  async kill(name: VmName, cause: 'forced' | 'host-halted'): Promise<void> {
    this.host.end(name, { cause })
    await Promise.resolve()
  }

  async recover(): Promise<readonly VmStatus[]> {
    return await Promise.resolve(this.host.statuses())
  }

  async status(name: VmName): Promise<VmStatus | undefined> {
    const vm = this.host.find(name)
    return await Promise.resolve(vm === undefined ? undefined : statusOf(vm))
  }

  onExit(listener: (vm: VmName, exit: ExitReport) => void): void {
    this.#unlisten.push(this.host.listen(listener))
  }

  onListening(listener: (vm: VmName) => void): void {
    this.#unlisten.push(this.host.listenForSockets(listener))
  }

  /** A hundredth of a CPU while it runs, and 32 MiB. */
  async usage(name: VmName): Promise<VmUsage | undefined> {
    const vm = this.host.find(name)
    if (vm === undefined) return undefined
    const untilMs = vm.exit?.atMs ?? Date.now()
    const rssBytes = vm.exit === undefined ? 32 * 1024 * 1024 : 0
    return await Promise.resolve({ rssBytes, cpuTimeMs: Math.ceil((untilMs - vm.bornAtMs) / 100) })
  }

  async forget(name: VmName): Promise<void> {
    this.host.forget(name)
    await Promise.resolve()
  }

  async close(): Promise<void> {
    for (const unlisten of this.#unlisten) unlisten()
    await Promise.resolve()
  }

  /** Undefined: for ever. An abort leaves nothing of the VM. */
  async #boot(spec: VmSpec, bootMs: number | undefined, signal: AbortSignal | undefined): Promise<void> {
    if (bootMs === 0) return
    await new Promise<void>((resolve, reject) => {
      const timer = bootMs === undefined ? undefined : setTimeout(resolve, bootMs)
      signal?.addEventListener('abort', () => {
        clearTimeout(timer)
        this.host.end(spec, { cause: ExitCause.Forced })
        reject(signal.reason as Error)
      })
    })
  }

  async #enter(spec: VmSpec): Promise<void> {
    const vm = this.host.find(spec)
    if (vm === undefined || vm.exit !== undefined) return
    const told = new Map(spec.process.argv.map((argument) => pairOf(argument)))
    await new ConsoleWriter(spec.consoleDirectory).append(
      Buffer.from(`running ${spec.process.argv.join(' ')}\n`),
    )
    vm.ignoresShutdown = told.has('ignore-shutdown')
    const listenMs = numberOf(told.get('listen-after')) ?? this.#options.listenAfterMs
    if (listenMs !== undefined) {
      vm.socketTimer = setTimeout(() => {
        this.host.openSocket(spec)
      }, listenMs)
      vm.socketTimer.unref()
    }
    const afterMs = numberOf(told.get('exit-after')) ?? this.#options.exitAfterMs
    if (afterMs === undefined) return
    vm.timer = setTimeout(() => {
      this.host.end(spec, this.#endOf(told))
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

function pairOf(argument: string): readonly [string, string] {
  const equals = argument.indexOf('=')
  return equals < 0 ? [argument, ''] : [argument.slice(0, equals), argument.slice(equals + 1)]
}

function numberOf(text: string | undefined): number | undefined {
  return text === undefined || !/^\d+$/.test(text) ? undefined : Number(text)
}
