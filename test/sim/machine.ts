import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { ExitReport } from '../../src/domain/instance/exit-report.ts'
import { StartKind } from '../../src/domain/instance/start-report.ts'
import type { StartReport } from '../../src/domain/instance/start-report.ts'
import type { Vmm, VmName, VmSpec, VmStatus } from '../../src/host/vmm/vmm.ts'
import { VmmError } from '../../src/host/vmm/vmm.ts'
import type { World } from './world.ts'

/** One simulated VM. It lives on when agents die. */
export interface SimVm {
  readonly boot: number
  readonly bornMs: number
  /** The boot with which the guest's memory began. */
  memory: number
  started?: StartReport
  exit?: ExitReport
  /** Whether the guest blocks standby. */
  disabled: boolean
  /**
   * Whether the guest agreed to sleep. If its application changes the block of standby after that, the new
   * value waits in `heldBack`.
   */
  resting: boolean
  heldBack?: boolean
  shutdown?: { readonly sinceMs: number; killAtMs: number; cancel: () => void }
}

export interface SimSnapshot {
  readonly boot: number
  readonly memory: number
  readonly uuid: string
  readonly disabled: boolean
}

/** How the applications and VMs of a run behave. Numbers without a unit are probabilities. */
export interface MachineTemper {
  startFails: number
  suspendFails: number
  snapshotUnfit: number
  /** Applications end by themselves, after at most twice this time. With 0 they never do. */
  exitsAfterMs: number
  stubborn: number
}

/** Hears what happens to VMs, and checks the rules. */
export interface MachineWatch {
  /** A VM is about to be made. */
  creating(boot: number): void
  /** That VM is about to sleep, so nothing may be in flight at it. */
  standingBy(vm: SimVm): void
  /** Whether that boot is being shut down for standby, and not because of a stop. */
  isForStandby(boot: number): boolean
  /** That VM is about to be shut down for a stop. */
  stopping(vm: SimVm): void
  ended(vm: SimVm): void
  /**
   * A start fails with this message. Called before the agent would write the message to the console, which
   * is a real file.
   */
  complained(message: string): void
}

const shortestBootMs = 30
const longestBootMs = 3_000

/**
 * The machine on which agents come and go: its VMs, its snapshot, and the guests. `vmm()` returns the driver
 * that one agent uses.
 */
export class SimMachine {
  readonly vms = new Map<number, SimVm>()
  /** Boots that reached their application. */
  readonly cameUp = new Set<number>()
  snapshot: SimSnapshot | undefined
  readonly temper: MachineTemper
  readonly #world: World
  readonly #instanceUuid: string
  readonly #directory: string
  readonly #watch: MachineWatch
  readonly #exitListeners = new Set<(vm: VmName, exit: ExitReport) => void>()
  readonly #disabledListeners = new Set<(vm: VmName, disabled: boolean) => void>()
  readonly #listeningListeners = new Set<(vm: VmName) => void>()

  constructor(options: {
    readonly world: World
    readonly instanceUuid: string
    readonly directory: string
    readonly watch: MachineWatch
    readonly temper: MachineTemper
  }) {
    this.#world = options.world
    this.#instanceUuid = options.instanceUuid
    this.#directory = options.directory
    this.#watch = options.watch
    this.temper = options.temper
  }

  get running(): SimVm | undefined {
    return [...this.vms.values()].find((vm) => vm.exit === undefined)
  }

  /** The snapshot from which a VM is being restored. */
  comingUp: SimSnapshot | undefined

  /** The boot with which the present memory began, in a VM or in a snapshot. */
  get memory(): number | undefined {
    return this.running?.memory ?? this.snapshot?.memory
  }

  toggleDisabled(disabled: boolean): void {
    const vm = this.running
    if (vm?.started !== undefined) this.#setDisabled(vm, disabled)
  }

  /** Ends all VMs as a loss of power does: nobody writes down how they ended. */
  powerOff(): void {
    for (const vm of this.vms.values()) {
      if (vm.exit !== undefined) continue
      this.vms.delete(vm.boot)
      vm.shutdown?.cancel()
      this.#watch.ended(vm)
    }
    this.vms.clear()
  }

  vmm(owner: { readonly alive: boolean }): Vmm {
    const { dice } = this.#world
    const pause = async (low: number, high: number): Promise<void> => {
      await this.#world.sleep(dice.stretched(low, high))
    }
    return {
      accelerator: 'fake',
      processors: 1,
      terms: { isKept: () => true, heed: async () => await Promise.resolve(true) },
      snapshots: { machine: {}, misfitOf: () => undefined },
      memory: () => undefined,
      checkMemory: () => undefined,
      exec: async () => await Promise.reject(new Error('no life runs programs')),
      mirror: async () => await Promise.reject(new Error('no life has a volume to copy')),
      start: async (spec, signal) => await this.#start(spec, signal),
      shutdown: async ({ boot }, { graceMs }) => {
        await pause(0.2, 2)
        this.#shutdown(boot, graceMs)
      },
      askToSleep: async ({ boot }) => {
        await pause(0.5, 100)
        const vm = this.vms.get(boot)
        if (vm?.started === undefined || vm.exit !== undefined || vm.disabled) return 'disabled'
        vm.resting = true
        return 'ready'
      },
      stayAwake: async ({ boot }) => {
        await pause(0.2, 5)
        this.#rouse(this.vms.get(boot))
      },
      suspend: async ({ boot }) => await this.#suspend(boot, owner),
      dropSnapshot: async () => {
        await pause(0.1, 1)
        this.#dropSnapshot()
      },
      onDisabled: (listener) => void this.#disabledListeners.add(listener),
      onStalled: () => undefined,
      kill: async ({ boot }, cause) => {
        await pause(0.5, 50)
        this.#end(this.vms.get(boot), { cause })
      },
      recover: async () => {
        await pause(0.5, 20)
        return [...this.vms.values()].map((vm) => this.#statusOf(vm))
      },
      status: async ({ boot }) => {
        await pause(0.05, 0.5)
        const vm = this.vms.get(boot)
        return vm === undefined ? undefined : this.#statusOf(vm)
      },
      onExit: (listener) => void this.#exitListeners.add(listener),
      onListening: (listener) => void this.#listeningListeners.add(listener),
      usage: async () => await Promise.resolve(undefined),
      cpuTimeMs: () => undefined,
      forget: async ({ boot }) => {
        await pause(0.1, 1)
        if (this.vms.get(boot)?.exit !== undefined) this.vms.delete(boot)
      },
      close: async () => {
        await Promise.resolve()
      },
    }
  }

  async #start(spec: VmSpec, signal: AbortSignal | undefined): Promise<StartReport> {
    const { dice } = this.#world
    const known = this.vms.get(spec.boot)
    if (known?.started !== undefined) return known.started
    await this.#world.sleep(dice.stretched(0.5, 10))
    signal?.throwIfAborted()
    if (!this.vms.has(spec.boot) && dice.chance(this.temper.startFails)) {
      const message = 'no memory is left'
      this.#watch.complained(message)
      throw new VmmError('HostFull', message)
    }
    const vm = this.vms.get(spec.boot) ?? this.#create(spec.boot)
    const fits = spec.restore && this.snapshot !== undefined && !dice.chance(this.temper.snapshotUnfit)
    const snapshot = fits ? this.snapshot : undefined
    this.comingUp = snapshot
    if (spec.restore) this.#dropSnapshot()
    this.#world.note(
      `vm ${spec.boot} begins${snapshot === undefined ? '' : ` from that of ${snapshot.boot}`}`,
    )
    await this.#bootTime(
      vm,
      snapshot === undefined ? dice.stretched(shortestBootMs, longestBootMs) : dice.stretched(10, 200),
      signal,
    ).finally(() => (this.comingUp = undefined))
    const isThere = this.vms.get(vm.boot) === vm && vm.exit === undefined
    if (isThere && vm.started === undefined) this.#enter(vm, snapshot)
    return vm.started ?? this.#report(vm, snapshot !== undefined)
  }

  #create(boot: number): SimVm {
    this.#watch.creating(boot)
    const vm = { boot, memory: boot, bornMs: this.#world.nowMs, disabled: false, resting: false }
    this.vms.set(boot, vm)
    return vm
  }

  async #bootTime(vm: SimVm, bootMs: number, signal: AbortSignal | undefined): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const due = this.#world.after(bootMs, resolve)
      signal?.addEventListener('abort', () => {
        due.cancel()
        if (vm.started !== undefined) return
        this.#end(vm, { cause: 'forced' })
        reject(signal.reason as Error)
      })
    })
  }

  #report(vm: SimVm, restored: boolean): StartReport {
    const { nowMs } = this.#world
    return {
      boot: vm.boot,
      kind: restored ? StartKind.Restore : StartKind.Boot,
      startedAtMs: Math.floor(nowMs),
      bootTimeUs: Math.max(1, Math.round((nowMs - vm.bornMs) * 1_000)),
      vmmStartTimeUs: 1,
      vmmLoadTimeUs: 1,
      vmmReadyTimeUs: 1,
    }
  }

  #enter(vm: SimVm, snapshot: SimSnapshot | undefined): void {
    const { dice } = this.#world
    vm.started = this.#report(vm, snapshot !== undefined)
    this.cameUp.add(vm.boot)
    this.#world.note(`vm ${vm.boot} came up`)
    if (snapshot !== undefined) {
      vm.memory = snapshot.memory
      vm.disabled = snapshot.disabled
    }
    this.#world.after(dice.stretched(1, 5_000), () => {
      if (vm.started === undefined || vm.exit !== undefined || this.vms.get(vm.boot) !== vm) return
      vm.started = { ...vm.started, netTimeUs: vm.started.netTimeUs ?? 1 }
      for (const listener of this.#listeningListeners) listener(this.#nameOf(vm))
    })
    this.#planExit(vm)
  }

  #planExit(vm: SimVm): void {
    const { exitsAfterMs } = this.temper
    const { dice } = this.#world
    const delayMs = dice.stretched(1, 2 * Math.max(1, exitsAfterMs))
    const exitCode = dice.pick([0, 1])
    if (exitsAfterMs === 0) return
    this.#world.after(delayMs, () => {
      if (this.vms.get(vm.boot) !== vm || this.temper.exitsAfterMs === 0) return
      this.#end(vm, { cause: 'guest', exitCode })
    })
  }

  #shutdown(boot: number, graceMs: number): void {
    const vm = this.vms.get(boot)
    if (vm?.started === undefined || vm.exit !== undefined) return
    const { dice, nowMs } = this.#world
    if (this.#watch.isForStandby(boot)) this.#watch.standingBy(vm)
    else this.#watch.stopping(vm)
    const killAtMs = nowMs + graceMs
    if (vm.shutdown !== undefined) {
      if (killAtMs >= vm.shutdown.killAtMs) return
      vm.shutdown.cancel()
    }
    const first = vm.shutdown === undefined
    this.#world.note(`vm ${boot} gets the shutdown signal, grace ${graceMs}`)
    const due = this.#world.after(graceMs, () => {
      this.#end(vm, { cause: 'guest', signal: 9, killedAtShutdown: true })
    })
    vm.shutdown = { sinceMs: vm.shutdown?.sinceMs ?? nowMs, killAtMs, cancel: due.cancel }
    if (!first || dice.chance(this.temper.stubborn)) return
    this.#world.after(dice.stretched(1, 2_000), () => {
      this.#end(vm, { cause: 'guest', signal: 15 })
    })
  }

  /**
   * Suspends a VM in the same steps as the real driver. If the agent dies in between, either the VM runs on,
   * or the snapshot is complete and nobody has heard of it.
   */
  async #suspend(
    boot: number,
    owner: { readonly alive: boolean },
  ): Promise<{ readonly snapshotUuid: string }> {
    const { dice } = this.#world
    const vm = this.vms.get(boot)
    if (vm !== undefined) this.#watch.standingBy(vm)
    await this.#world.sleep(dice.stretched(1, 400))
    const isLost = vm === undefined || this.vms.get(boot) !== vm || !owner.alive
    if (
      isLost ||
      vm.started === undefined ||
      vm.exit !== undefined ||
      dice.chance(this.temper.suspendFails)
    ) {
      this.#rouse(vm)
      throw new VmmError('BootFailed', 'the snapshot could not be written')
    }
    this.#watch.standingBy(vm)
    const uuid = `snapshot-${boot}`
    const disabled = vm.heldBack ?? vm.disabled
    this.snapshot = { boot, memory: vm.memory, uuid, disabled }
    const record = { schemaVersion: 1, uuid, boot, snapshotKey: 'sim' }
    mkdirSync(path.join(this.#directory, 'snapshot'), { recursive: true })
    writeFileSync(path.join(this.#directory, 'snapshot', 'snapshot.json'), JSON.stringify(record))
    this.vms.delete(boot)
    this.#world.note(`vm ${boot} is suspended`)
    await this.#world.sleep(dice.stretched(0.1, 20))
    return { snapshotUuid: uuid }
  }

  #dropSnapshot(): void {
    if (this.snapshot === undefined) return
    this.snapshot = undefined
    rmSync(path.join(this.#directory, 'snapshot'), { recursive: true, force: true })
  }

  #rouse(vm: SimVm | undefined): void {
    if (vm === undefined) return
    vm.resting = false
    const { heldBack } = vm
    delete vm.heldBack
    if (heldBack !== undefined) this.#setDisabled(vm, heldBack)
  }

  #setDisabled(vm: SimVm, disabled: boolean): void {
    if (vm.resting) vm.heldBack = disabled
    else if (vm.disabled !== disabled) {
      vm.disabled = disabled
      this.#world.note(`vm ${vm.boot} ${disabled ? 'speaks' : 'no longer speaks'} against standby`)
      for (const listener of this.#disabledListeners) listener(this.#nameOf(vm), disabled)
    }
  }

  #end(vm: SimVm | undefined, how: Partial<ExitReport> & Pick<ExitReport, 'cause'>): void {
    if (vm === undefined || vm.exit !== undefined || this.vms.get(vm.boot) !== vm) return
    const applicationStarted = vm.started !== undefined
    vm.exit = { boot: vm.boot, applicationStarted, atMs: Math.floor(this.#world.nowMs), ...how }
    vm.shutdown?.cancel()
    this.#world.note(`vm ${vm.boot} ends: ${how.cause}`)
    this.#watch.ended(vm)
    for (const listener of this.#exitListeners) listener(this.#nameOf(vm), vm.exit)
  }

  #nameOf({ boot }: SimVm): VmName {
    return { instanceUuid: this.#instanceUuid, boot }
  }

  #statusOf(vm: SimVm): VmStatus {
    return {
      ...this.#nameOf(vm),
      ...(vm.started === undefined ? {} : { started: vm.started }),
      disabled: vm.disabled,
      ...(vm.exit === undefined ? {} : { exit: vm.exit }),
    }
  }
}
