import type { ExitReport } from '../../../src/domain/instance/exit-report.ts'
import type { Vmm, VmName, VmSpec } from '../../../src/host/vmm/vmm.ts'

/** What an application of a suite does once it is entered. */
export interface Behaviour {
  /** Ends by itself after this time. If absent, it runs until it is told to stop. */
  readonly exitAfterMs?: number
  readonly exitCode?: number
  /** Ends by this signal instead of a code. */
  readonly signal?: number
  /** It ends by a panic of the whole kernel. */
  readonly panic?: boolean
  /** Listens on a socket after this time. */
  readonly listenAfterMs?: number
  /** Goes on after the shutdown signal. */
  readonly ignoresShutdown?: boolean
  /** Speaks against standby after this time. */
  readonly disabledAfterMs?: number
  /** With `scarce` it writes more to the volume at once than its host has room for. */
  readonly volume?: 'usable' | 'unusable' | 'scarce'
}

/** One machine with a VMM on it; the machine outlives any one `Vmm` object. */
export interface VmmWorld {
  /** Another `Vmm` on the same machine, as the next agent would have. */
  open(): Vmm
  /** The spec of a new VM whose application behaves in this way. */
  spec(behaviour: Behaviour): Promise<VmSpec>
  /** Kills the VMM's process without the VMM's knowledge. */
  loseVmm(vmm: Vmm, name: VmName): Promise<void>
  /** Resolves once the application does what its behaviour says. */
  untilReady(name: VmName): Promise<unknown>
  /** Resolves once the VM has ended, without a `Vmm` that watches it. */
  untilEnded(name: VmName): Promise<unknown>
  /** Makes room again on the disk of a scarce volume. */
  makeRoom(name: VmName): Promise<void>
  close?(): Promise<void>
}

/** Resolves with the report of the VM's end, which may be past or still to come. */
export async function exitOf(vmm: Vmm, name: VmName): Promise<ExitReport> {
  return await new Promise((resolve, reject) => {
    vmm.onExit((ended, exit) => {
      if (ended.instanceUuid === name.instanceUuid && ended.boot === name.boot) resolve(exit)
    })
    vmm
      .status(name)
      .then((status) => status?.exit !== undefined && resolve(status.exit))
      .catch(reject)
  })
}

/**
 * A world for one suite, and a new `Vmm` for each of its tests. After each test, the VMs that it started are
 * ended.
 */
export class VmmScene {
  #world: VmmWorld | undefined
  #vmm: Vmm | undefined
  readonly #started: VmSpec[] = []

  constructor(makeWorld: () => Promise<VmmWorld>) {
    before(async () => {
      this.#world = await makeWorld()
    })
    beforeEach(() => {
      this.#vmm = this.world.open()
    })
    afterEach(async () => {
      for (const spec of this.#started.splice(0)) {
        await this.vmm.kill(spec, 'forced')
        await this.vmm.forget(spec)
      }
      await this.vmm.close()
    })
    after(async () => {
      await this.#world?.close?.()
    })
  }

  get world(): VmmWorld {
    if (this.#world === undefined) throw new Error('the world is made before the first test')
    return this.#world
  }

  get vmm(): Vmm {
    if (this.#vmm === undefined) throw new Error('a VMM is opened before each test')
    return this.#vmm
  }

  /** Opens the VMM again like the next agent, which finds running VMs by `recover`. */
  async reopen(): Promise<Vmm> {
    await this.vmm.close()
    this.#vmm = this.world.open()
    return this.#vmm
  }

  /** The spec of a VM that is ended after the test, even if its start fails. */
  async prepare(behaviour: Behaviour): Promise<VmSpec> {
    return this.follow(await this.world.spec(behaviour))
  }

  follow(spec: VmSpec): VmSpec {
    this.#started.push(spec)
    return spec
  }

  async start(behaviour: Behaviour): Promise<VmSpec> {
    const spec = await this.prepare(behaviour)
    await this.vmm.start(spec)
    if (behaviour.ignoresShutdown === true) await this.world.untilReady(spec)
    return spec
  }
}
