import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { KeeperGone, startKeeper } from '../../../src/host/vmm/keeper-process.ts'
import { WaitingKeepers } from '../../../src/host/vmm/waiting-keepers.ts'
import { commandLineOf, familyOf } from '../../support/processes.ts'
import { until } from '../../support/until.ts'
import { openQemuBench } from './qemu-bench.ts'
import type { QemuBench } from './qemu-bench.ts'
import { exitOf } from './scene.ts'

const limit = { limitMs: 30_000 }

/** The waiting keepers of other test files in this process. They may be about to end. */
let others: readonly number[] = []

/** The keepers of this file that have no order yet. */
function waiting(): readonly number[] {
  return familyOf(process.pid).filter(
    (pid) => /keeper wait( |$)/.test(commandLineOf(pid)) && !others.includes(pid),
  )
}

describe('keepers that were started ahead', () => {
  let bench: QemuBench

  before(async () => {
    bench = await openQemuBench()
    others = waiting()
  })
  after(async () => {
    await bench.close()
  })

  it('become the keepers of VMs, which shows in their command lines, and are replaced', async () => {
    const vmm = bench.open()
    try {
      await vmm.recover()
      await until('two wait', () => waiting().length === 2, limit)
      const ahead = waiting()
      const spec = await bench.spec({ argv: ['sh', '-c', 'echo here; sleep 1000'] })
      await vmm.start(spec)
      const keeper = await bench.pidOf(spec, 'keeper')
      assert(ahead.includes(keeper), 'no new process')
      assert(commandLineOf(keeper).includes(`dir=${spec.directory}`))
      await until('two wait again', () => waiting().length === 2, limit)
      await vmm.kill(spec, 'forced')
      await exitOf(vmm, spec)
    } finally {
      await vmm.close()
    }
    await until('none is left', () => waiting().length === 0, limit)
  })

  it('are not taken when they were killed, and a new one is started instead', async () => {
    const vmm = bench.open()
    try {
      await vmm.recover()
      await until('two wait', () => waiting().length === 2, limit)
      const killed = waiting()
      for (const pid of killed) process.kill(pid, 'SIGKILL')
      await until('they are gone', () => killed.every((pid) => commandLineOf(pid) === ''), limit)
      const { console } = await bench.run(vmm, { argv: ['echo', 'here'] })
      assert.equal(console, 'here\n')
    } finally {
      await vmm.close()
    }
  })

  describe('and ended before their order are reported, and nobody waits for them', () => {
    const plan = () =>
      ({
        keeperPath: bench.keeperPrograms.keeperPath,
        directory: bench.directory,
        consoleDirectory: bench.directory,
        guest: 'container',
        command: ['/bin/true'],
        files: [],
        config: Buffer.alloc(0),
      }) as const

    it('if that is known', async () => {
      const keepers = new WaitingKeepers(bench.keeperPrograms)
      const gone = await keepers.take('ann')
      gone.stdin.destroy()
      await once(gone.stdin, 'close')
      await assert.rejects(startKeeper(plan(), gone), KeeperGone)
      await keepers.close()
    })

    it('if nobody has heard of it yet', async () => {
      // That of the test before may not have ended yet.
      await until('none is left', () => waiting().length === 0, limit)
      const keepers = new WaitingKeepers(bench.keeperPrograms)
      try {
        const gone = await keepers.take('ann')
        const [pid = 0] = waiting()
        process.kill(pid, 'SIGKILL')
        // This process hears of it at its next turn, and there is none before the order. A process that ends
        // has no command line any more a moment before it closes its files.
        while (!/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8')))
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
        assert.equal(gone.stdin.destroyed, false)
        await assert.rejects(startKeeper(plan(), gone), KeeperGone)
      } finally {
        await keepers.close()
      }
    })
  })

  it('end with the process that started them', async () => {
    const keepers = new WaitingKeepers(bench.keeperPrograms)
    const { stdin } = await keepers.take('ann')
    const [pid = 0] = waiting()
    stdin.destroy()
    await until('it is gone', () => commandLineOf(pid) === '', limit)
    await keepers.close()
  })

  it('can not be had where there is no keeper', async () => {
    await assert.rejects(
      new WaitingKeepers({ keeperPath: '/nowhere/keeper', vmmPath: '/nowhere/qemu' }).take('ann'),
      { code: 'ENOENT' },
    )
  })

  for (const [what, order] of [
    ['no order', 'run\n'],
    ['more files than strings', 'order 2 7\nr /dev\0'],
    ['a file that is not there', 'order 1 27\nr /nowhere/at/all\0/bin/true\0'],
    ['a string without its end', 'order 0 9\n/bin/true'],
    ['a program that is not there', 'order 0 9\n/nowhere\0'],
    ['too much', 'order 0 1000000\n'],
  ] as const) {
    it(`refuse ${what}`, async () => {
      const child = spawn(bench.context.assets.keeperPath, ['wait'], { stdio: ['pipe', 'ignore', 'ignore'] })
      const stdin = child.stdin as unknown as Socket
      stdin.on('error', () => undefined)
      stdin.end(order)
      assert.deepEqual(await once(child, 'exit'), [2, null])
    })
  }
})
