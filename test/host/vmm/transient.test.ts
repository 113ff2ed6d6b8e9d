import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { keeperFd } from '../../../src/host/vmm/command-line.ts'
import { ControlGroups, enterByKeeper, findGroupHierarchies } from '../../../src/host/vmm/control-groups.ts'
import type { QemuVmm } from '../../../src/host/vmm/qemu-vmm.ts'
import { startTransientMachine } from '../../../src/host/vmm/transient-machine.ts'
import type { TransientMachine } from '../../../src/host/vmm/transient-machine.ts'
import { transientOwner } from '../../../src/host/vmm/vm-owner.ts'
import type { VmOwner } from '../../../src/host/vmm/vm-owner.ts'
import type { VmSpec } from '../../../src/host/vmm/vmm.ts'
import { until } from '../../support/until.ts'
import { BreakoutProgram, breakoutTries } from './breakout-program.ts'
import { openQemuBench } from './qemu-bench.ts'
import type { QemuBench } from './qemu-bench.ts'

const limit = { limitMs: 30_000 }
const memoryMb = 96
/** A shell that knows descriptors above 9. */
const shell = '/usr/bin/bash'

/** A program that starts the machine. The test kills the program, and the machine must end with it. */
const starter = `
  const { startTransientMachine } = await import(process.argv[1])
  const machine = await startTransientMachine(JSON.parse(process.argv[2]))
  machine.control.on('data', (chunk) => process.stdout.write(chunk))
  machine.monitor.negotiate().catch(() => undefined)
  setInterval(() => undefined, 1000)`

describe('a machine that lives for a moment', () => {
  let bench: QemuBench
  let keeperPath: string
  let owner: VmOwner | undefined

  before(async () => {
    bench = await openQemuBench()
    keeperPath = bench.context.assets.keeperPath
    owner = await transientOwner({ isRoot: bench.context.facts.isRoot, accelerator: 'tcg' })
  })
  after(async () => {
    await bench.close()
  })

  async function start(
    command: readonly string[],
    more: { readonly groups?: readonly string[]; readonly keeperPath?: string } = {},
  ): Promise<TransientMachine> {
    return await startTransientMachine({ keeperPath, memoryMb, owner, command, files: [], ...more })
  }

  it('ends like its VMM: with its status, or with the number of its signal', async () => {
    assert.equal(await (await start([shell, '-c', 'exit 65'])).exited, 65)
    assert.equal(await (await start([shell, '-c', 'kill -KILL $$'])).exited, 128 + 9)
    const missing = await start(['/nowhere'])
    await missing.exited
    assert.match(missing.complaint, /^keeper: \/nowhere: No such file/)
  })

  it('runs where no namespaces can be made, and can be killed there', async function () {
    if (owner === undefined) this.skip()
    const withoutPower = path.join(bench.directory, 'keeper')
    const script = `#!/bin/sh\nexec setpriv --bounding-set=-sys_admin -- ${keeperPath} "$@"\n`
    writeFileSync(withoutPower, script, { mode: 0o755 })
    const machine = await start([shell, '-c', `id -u >&${keeperFd.control}; sleep 1000`], {
      keeperPath: withoutPower,
    })
    assert.equal(await machine.line('', AbortSignal.timeout(limit.limitMs)), String(owner.uid))
    await machine.kill()
    assert.equal(await machine.exited, 128 + 9)
  })

  it('enters its control groups, and is killed before the platform if memory runs out', async function () {
    if (owner === undefined || (await findGroupHierarchies()).length === 0) this.skip()
    const groups = await ControlGroups.open({
      agentDirectory: bench.directory,
      tryToEnter: async (directories) => await enterByKeeper(keeperPath, directories),
    })
    const group = await groups.prepare('user-1')
    const tell = `cat /proc/self/oom_score_adj /proc/self/cgroup >&${keeperFd.control}`
    const machine = await start([shell, '-c', `${tell}; echo done >&${keeperFd.control}; sleep 1000`], {
      groups: group.directories,
    })
    const lines = await linesOf(machine)
    assert.equal(lines[0], '500')
    assert.equal(lines.filter((line) => line.endsWith(`/${group.name}`)).length, group.directories.length)
    await machine.kill()
    await groups.remove(group.name)
    await groups.close()
  })

  describe('and was taken over', () => {
    let vmm: QemuVmm
    let other: VmSpec
    let program: BreakoutProgram | undefined
    let machine: TransientMachine
    let tried: readonly string[] = []

    before(async function () {
      if (owner === undefined) this.skip()
      vmm = bench.open()
      other = await bench.spec({ argv: ['sleep', '1000'] })
      await vmm.start(other)
      program = await BreakoutProgram.make({ bench, other, reportFd: keeperFd.control })
      machine = await start([program.path])
      // The program tries nothing before it gets its first message.
      machine.monitor.negotiate().catch(() => undefined)
      tried = await linesOf(machine)
    })
    after(async () => {
      program?.close()
      if (program === undefined) return
      await vmm.kill(other, 'forced')
      await vmm.close()
    })

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

    it('has a user of its own, as has the process that watches it, both without privileges', () => {
      const users = new Set<string>()
      for (const pid of [...(program?.running() ?? []), ...parentsOf(program?.running() ?? [])]) {
        const field = fieldsOf(pid)
        assert.deepEqual([field('CapBnd'), field('NoNewPrivs')], ['0000000000000000', '1'])
        users.add(field('Uid').split('\t')[0] ?? '')
      }
      assert.deepEqual(users, new Set([String(owner?.uid), '0', String(owner?.keeperUid)]))
    })

    it('can be killed, whatever it did to survive, and nothing of it is left then', async () => {
      assert.equal(program?.running().length, 2)
      await machine.kill()
      assert.deepEqual(program?.running(), [])
    })

    it('ends with the process that started it, whatever it did to survive', async () => {
      const source = path.resolve(import.meta.dirname, '../../../src/host/vmm/transient-machine.ts')
      const input = { keeperPath, memoryMb, owner, command: [program?.path], files: [] }
      const args = ['--input-type=module', '-e', starter, source, JSON.stringify(input)]
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
      let told = ''
      child.stdout.setEncoding('utf8').on('data', (text: string) => (told += text))
      await until('it has tried', () => told.includes('\ndone\n'), limit)
      assert.equal(program?.running().length, 2)
      child.kill('SIGKILL')
      await once(child, 'exit')
      await until('nothing is left', () => program?.running().length === 0, limit)
    })
  })
})

/** The lines that the machine says before `done`. */
async function linesOf(machine: TransientMachine): Promise<readonly string[]> {
  let text = ''
  machine.control.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')))
  await until('it is done', () => /^done\n/m.test(text), limit)
  return text.split('\n').slice(0, text.split('\n').indexOf('done'))
}

function fieldsOf(pid: number): (name: string) => string {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return (name) => new RegExp(`^${name}:[ \\t]*(.*)$`, 'm').exec(status)?.[1]?.trim() ?? ''
}

/** The first process in the namespace of these processes, and the process that started that first one. */
function parentsOf(pids: readonly number[]): readonly number[] {
  const first = new Set(pids.map((pid) => Number(fieldsOf(pid)('PPid'))).filter((pid) => !pids.includes(pid)))
  return [...first].flatMap((pid) => [pid, Number(fieldsOf(pid)('PPid'))])
}
