import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { keeperFd } from '../../../src/host/vmm/command-line.ts'
import { findJailGaps } from '../../../src/host/vmm/jail-probe.ts'
import type { QemuVmm } from '../../../src/host/vmm/qemu-vmm.ts'
import type { VmSpec } from '../../../src/host/vmm/vmm.ts'
import { until } from '../../support/until.ts'
import { BreakoutProgram, breakoutTries } from './breakout-program.ts'
import { makeTap, removeTap, tapAttachment } from './guest-shell.ts'
import { openQemuBench } from './qemu-bench.ts'
import type { QemuBench } from './qemu-bench.ts'

const limit = { limitMs: 30_000 }

describe('a guest that has taken over its VMM', () => {
  let bench: QemuBench
  let vmm: QemuVmm
  let other: VmSpec
  let spec: VmSpec
  let tried: readonly string[] = []
  let program: BreakoutProgram | undefined

  before(async function () {
    bench = await openQemuBench()
    if (!bench.context.facts.isRoot) this.skip()
    makeTap()
    const plain = bench.open()
    other = await bench.spec({ argv: ['sleep', '1000'] })
    await plain.start(other)
    program = await BreakoutProgram.make({ bench, other, reportFd: keeperFd.console })
    vmm = bench.open({ facts: { ...bench.context.facts, qemuPath: program.path } })
    await vmm.recover()
    spec = { ...(await bench.spec({ argv: ['true'] })), attachment: tapAttachment }
    await vmm.start(spec)
    const told = async () => (await bench.consoleOf(spec)).split('\n')
    tried = await until(
      'it has tried',
      async () => {
        const lines = await told()
        return lines.includes('done') ? lines.slice(0, lines.indexOf('done')) : undefined
      },
      limit,
    )
    await plain.close()
  })

  after(async () => {
    if (program !== undefined) removeTap()
    program?.close()
    await vmm?.close()
    await bench.close()
  })

  const running = () => program?.running() ?? []

  for (const what of breakoutTries) {
    it(`reaches nothing of the host: ${what}`, () => {
      const tries = tried.filter((line) => line.startsWith(`${what} `))
      assert.notEqual(tries.length, 0)
      assert.deepEqual(
        tries.filter((line) => !line.includes(' refused ')),
        [],
      )
    })
  }

  it('has a keeper that is a third user and reaches as little, and a first process that may only kill', async () => {
    const vm = statusOf(await bench.pidOf(spec, 'qemu'))
    const keeper = statusOf(await bench.pidOf(spec, 'keeper'))
    const first = statusOf(vm.parent)
    assert.equal(first.parent, await bench.pidOf(spec, 'keeper'))
    assert.deepEqual(new Set([vm.uid, keeper.uid, 0]).size, 3)
    assert.notEqual(keeper.uid, statusOf(await bench.pidOf(other, 'keeper')).uid)
    assert.deepEqual([vm.capabilities, keeper.capabilities, first.capabilities], [0n, 0n, 1n << 5n])
    assert.deepEqual([vm.bounding, keeper.bounding, first.bounding], [0n, 0n, 0n])
    assert.deepEqual([vm.groups, keeper.groups], ['', ''])
    for (const kind of ['net', 'ipc', 'mnt']) {
      const of = (who: { readonly pid: number }) => readlinkSync(`/proc/${who.pid}/ns/${kind}`)
      assert.equal(of(keeper), of(vm), kind)
      assert.notEqual(of(keeper), of(process), kind)
    }
  })

  it('ends with its keeper, whatever it did to survive', async () => {
    assert.equal(running().length, 2)
    process.kill(await bench.pidOf(spec, 'keeper'), 'SIGKILL')
    await until('nothing is left', () => running().length === 0, limit)
  })

  it('can be killed, whatever it did to survive, and the CPU time that it used is known', async () => {
    const next = { ...(await bench.spec({ argv: ['true'] })), attachment: tapAttachment }
    await vmm.start(next)
    await until('it has tried', async () => (await bench.consoleOf(next)).includes('done'), limit)
    await vmm.kill(next, 'forced')
    assert.equal(running().length, 0)
    const used = (await bench.eventOf(next, 'ended'))?.words
    assert.deepEqual(used?.slice(0, 3), ['signal', '9', 'cpu_us'])
    assert.ok(Number(used?.[3]) > 0)
    await vmm.forget(next)
  })
})

describe('a keeper that does not react', () => {
  it('is killed with its VM, by their numbers', async () => {
    const bench = await openQemuBench()
    try {
      const vmm = bench.open()
      const spec = await bench.spec({ argv: ['sleep', '1000'] })
      await vmm.start(spec)
      const pids = [await bench.pidOf(spec, 'qemu'), await bench.pidOf(spec, 'keeper')]
      process.kill(pids[1] ?? 0, 'SIGSTOP')
      await vmm.kill(spec, 'forced')
      await until('both are gone', () => pids.every((pid) => !existsSync(`/proc/${pid}`)), limit)
      await vmm.forget(spec)
      await vmm.close()
    } finally {
      await bench.close()
    }
  })
})

describe('a host that does not let namespaces be made', () => {
  const withoutPower = ['--bounding-set=-sys_admin', '--']
  let bench: QemuBench

  before(async function () {
    bench = await openQemuBench()
    if (!bench.context.facts.isRoot) this.skip()
  })
  after(async () => {
    await bench.close()
  })

  it('is distinguished from a host that lets them be made', async () => {
    const { facts, assets } = bench.context
    assert.deepEqual(await findJailGaps(facts, assets), [])
    const keeperPath = path.join(bench.directory, 'keeper')
    const script = `#!/bin/sh\nexec setpriv ${withoutPower.join(' ')} ${assets.keeperPath} "$@"\n`
    writeFileSync(keeperPath, script, { mode: 0o755 })
    const gaps = await findJailGaps(facts, { keeperPath })
    assert.deepEqual(gaps, ['network', 'System V objects', 'process numbers', 'view of the file system'])
  })

  it('runs VMs all the same', () => {
    const directory = path.join(bench.directory, 'plain')
    mkdirSync(directory)
    const places = [
      `dir=${directory}`,
      `console=${directory}`,
      'guest=container',
      'uid=1073741833',
      'gid=1073741833',
    ]
    const keeper = [bench.context.assets.keeperPath, 'run', ...places, '--', '/bin/sh', '-c', 'exit 3']
    execFileSync('setpriv', [...withoutPower, ...keeper], { input: '0\n' })
    assert.match(readFileSync(path.join(directory, 'events'), 'utf8'), /^\d+ ended exit 3 cpu_us \d+\n$/m)
  })
})

function statusOf(pid: number) {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8')
  const field = (name: string) => new RegExp(`^${name}:[ \\t]*(.*)$`, 'm').exec(text)?.[1]?.trim() ?? ''
  assert.equal(field('NoNewPrivs'), '1')
  // The real, effective, saved and file system ids are the same.
  const uids = new Set(field('Uid').split('\t'))
  assert.equal(uids.size, 1)
  return {
    pid,
    parent: Number(field('PPid')),
    uid: Number([...uids][0]),
    groups: field('Groups'),
    capabilities: BigInt(`0x${field('CapPrm')}`),
    bounding: BigInt(`0x${field('CapBnd')}`),
  }
}
