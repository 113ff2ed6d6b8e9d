import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { startKeeper } from '../../src/host/vmm/keeper-process.ts'
import { findEvent, parseVmEvents } from '../../src/host/vmm/vm-events.ts'
import type { VmEvent } from '../../src/host/vmm/vm-events.ts'
import { WaitingKeepers } from '../../src/host/vmm/waiting-keepers.ts'
import { signalAll } from '../support/processes.ts'
import { until } from '../support/until.ts'
import { openQemuBench } from './qemu-bench.ts'
import type { QemuBench } from './qemu-bench.ts'

const limit = { limitMs: 60_000 }
const standIn = path.join(import.meta.dirname, 'stand-in-vmm.ts')

describe('the keeper of a guest that goes on from its snapshot', () => {
  let bench: QemuBench
  let keepers: WaitingKeepers
  let pids: number[] = []

  before(async () => {
    bench = await openQemuBench()
    keepers = new WaitingKeepers(bench.keeperPrograms)
  })
  after(async () => {
    await keepers.close()
    await bench.close()
  })
  // Its VMM dies with it.
  afterEach(() => {
    signalAll(pids, 'SIGKILL')
    pids = []
  })

  /** What it tells from the moment at which the VM has CPUs, up to `last`. */
  async function toldOf(says: string, last: string): Promise<readonly string[]> {
    const directory = path.join(bench.directory, says)
    mkdirSync(directory)
    const { keeperPath } = bench.context.assets
    const incoming = { fd: 3, source: 'snapshot', carried: ['output=0', 'listening=0'] } as const
    const where = { keeperPath, directory, consoleDirectory: directory }
    const what = { guest: 'container', incoming, files: [], config: Buffer.alloc(0) } as const
    await startKeeper(
      { ...where, ...what, command: [process.execPath, standIn, says] },
      await keepers.take('ann'),
    )
    const events = path.join(directory, 'events')
    const told = () => parseVmEvents(existsSync(events) ? readFileSync(events, 'utf8') : '')
    const has = (name: string): VmEvent | undefined => findEvent(told(), name)
    pids.push(Number((await until('it is there', () => has('keeper'), limit)).words[0]))
    await until(`${last} is told`, () => has(last), limit)
    const names = told().map(({ what }) => what)
    return names.slice(names.indexOf('monitor') + 1, names.indexOf(last) + 1)
  }

  it('says that it runs once it has set its clock', async () => {
    assert.deepEqual(await toldOf('awake', 'running'), ['listen', 'running'])
  })

  it('says so before its end, which may come first', async () => {
    assert.deepEqual(await toldOf('exit', 'exit'), ['listen', 'running', 'exit'])
    assert.deepEqual(await toldOf('panic', 'shutdown'), ['listen', 'running', 'shutdown'])
  })

  it('does not wait for ever for one that is too busy', async () => {
    assert.deepEqual(await toldOf('nothing', 'running'), ['listen', 'running'])
  })
})
