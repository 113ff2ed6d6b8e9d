import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { parseVmEvents } from '../../src/host/vmm/vm-events.ts'
import { until } from '../support/until.ts'
import { openQemuBench } from './qemu-bench.ts'
import type { QemuBench } from './qemu-bench.ts'

const limit = { limitMs: 60_000 }
const standIn = path.join(import.meta.dirname, 'stand-in-vmm.ts')

describe('the keeper of a guest that goes on from its snapshot', () => {
  let bench: QemuBench
  const keepers: ChildProcess[] = []

  before(async () => {
    bench = await openQemuBench()
  })
  after(async () => {
    await bench.close()
  })
  // Its VMM dies with it.
  afterEach(async () => {
    for (const keeper of keepers.splice(0)) {
      if (keeper.exitCode !== null || keeper.signalCode !== null) continue
      const ended = once(keeper, 'exit')
      keeper.kill('SIGKILL')
      await ended
    }
  })

  /** What it tells from the moment at which the VM has CPUs, up to `last`. */
  async function toldOf(says: string, last: string): Promise<readonly string[]> {
    const directory = path.join(bench.directory, says)
    mkdirSync(directory)
    const where = [`dir=${directory}`, `console=${directory}`]
    const what = ['guest=container', 'incoming=3', 'source=snapshot', 'output=0', 'listening=0']
    const options = [...where, ...what, '--', process.execPath, standIn, says]
    const keeper = spawn(bench.context.assets.keeperPath, ['run', ...options], {
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    keepers.push(keeper)
    keeper.stdin.end('0\n')
    const events = path.join(directory, 'events')
    const told = () => {
      const names = parseVmEvents(existsSync(events) ? readFileSync(events, 'utf8') : '').map(
        ({ what }) => what,
      )
      return names.slice(names.indexOf('monitor') + 1)
    }
    return await until(`${last} is told`, () => told().includes(last) && told(), limit)
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
