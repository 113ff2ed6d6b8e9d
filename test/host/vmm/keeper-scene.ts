import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { startKeeper } from '../../../src/host/vmm/keeper-process.ts'
import { findEvent, parseVmEvents } from '../../../src/host/vmm/vm-events.ts'
import type { VmEvent } from '../../../src/host/vmm/vm-events.ts'
import { WaitingKeepers } from '../../../src/host/vmm/waiting-keepers.ts'
import { signalAll } from '../../support/processes.ts'
import { until } from '../../support/until.ts'
import { openQemuBench } from './qemu-bench.ts'
import type { QemuBench } from './qemu-bench.ts'

const limit = { limitMs: 60_000 }
const standIn = path.join(import.meta.dirname, 'stand-in-vmm.ts')

/** A keeper whose VMM is `stand-in-vmm.ts`. */
export interface StandInVm {
  readonly directory: string
  /** The process number of the keeper. */
  readonly pid: number
  /** What the keeper has recorded so far. */
  events(): readonly VmEvent[]
}

/**
 * Keepers for the tests of one suite, each with `stand-in-vmm.ts` as its VMM. After each test all of them
 * are killed.
 */
export class KeeperScene {
  #bench: QemuBench | undefined
  #keepers: WaitingKeepers | undefined
  #pids: number[] = []

  constructor() {
    before(async () => {
      this.#bench = await openQemuBench()
      this.#keepers = new WaitingKeepers(this.#bench.keeperPrograms)
    })
    // The VMM of a keeper that is killed dies with it.
    afterEach(() => {
      signalAll(this.#pids, 'SIGKILL')
      this.#pids = []
    })
    after(async () => {
      await this.#keepers?.close()
      await this.#bench?.close()
    })
  }

  get directory(): string {
    if (this.#bench === undefined) throw new Error('it is opened by a hook')
    return this.#bench.directory
  }

  /** The path of the keeper's program. */
  get keeperPath(): string {
    if (this.#bench === undefined) throw new Error('it is opened by a hook')
    return this.#bench.context.assets.keeperPath
  }

  /**
   * Resolves when the keeper has come up. `says` are the arguments of the VMM; `config` is the configuration
   * that its guest gets first; `termPath` is the file with the host's term.
   */
  async start(options: {
    readonly name: string
    readonly says: readonly string[]
    readonly config?: Buffer
    readonly termPath?: string
  }): Promise<StandInVm> {
    if (this.#bench === undefined || this.#keepers === undefined) throw new Error('it is opened by a hook')
    const { name, says, config = Buffer.alloc(0), termPath } = options
    const directory = path.join(this.#bench.directory, name)
    mkdirSync(directory)
    const { keeperPath } = this.#bench.context.assets
    // The guest goes on from its snapshot, so its application was entered long ago.
    const incoming = { fd: 3, source: 'snapshot', carried: ['output=0', 'listening=0'] } as const
    const term = termPath === undefined ? {} : { termPath }
    const where = { keeperPath, directory, consoleDirectory: directory, ...term }
    const what = { guest: 'container', incoming, files: [], config } as const
    const command = [process.execPath, standIn, ...says]
    await startKeeper({ ...where, ...what, command }, await this.#keepers.take('ann'))
    const file = path.join(directory, 'events')
    const events = () => parseVmEvents(existsSync(file) ? readFileSync(file, 'utf8') : '')
    const keeper = await until('it says who it is', () => findEvent(events(), 'keeper'), limit)
    const pid = Number(keeper.words[0])
    this.#pids.push(pid)
    return { directory, pid, events }
  }
}
