import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { pino } from 'pino'
import { PlatformEnd } from '../../../src/launch/end-signals.ts'
import {
  countVirtualMachines,
  endLeftVirtualMachines,
  settleVirtualMachines,
} from '../../../src/launch/parts/left-virtual-machines.ts'
import { identify, isRunning } from '../../../src/launch/parts/process-identity.ts'

describe('virtual machines that an agent left behind', () => {
  const started: ChildProcess[] = []

  afterEach(() => {
    for (const child of started.splice(0)) child.kill('SIGKILL')
  })

  /** Starts a process that looks like a keeper with one VM. Resolves with the VM's process id. */
  async function startKeeper(directory: string, program = '/cache/guest/keeper'): Promise<number> {
    const child = spawn(
      '/bin/sh',
      ['-c', 'sleep 1000 & echo $!; wait', 'keeper', `dir=${directory}/instances/a/vm`],
      {
        argv0: program,
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    )
    started.push(child)
    const [chunk] = (await once(child.stdout, 'data')) as [Buffer]
    return Number(chunk.toString())
  }

  it('are ended with their keepers', async () => {
    const vm = identify(await startKeeper('/data/agent'))
    assert.ok(vm)
    const ended = once(started[0] as ChildProcess, 'exit')
    assert.equal(await endLeftVirtualMachines('/data/agent'), 1)
    assert.equal(isRunning(vm), false)
    await ended
  })

  it('are counted once, even if their keeper has just forked', async () => {
    const child = spawn(
      '/bin/sh',
      ['-c', 'exec 3<&0; (read line <&3) & echo $!; wait', 'keeper', 'dir=/data/agent/instances/a/vm'],
      {
        argv0: '/cache/guest/keeper',
        stdio: ['pipe', 'pipe', 'ignore'],
      },
    )
    started.push(child)
    await once(child.stdout, 'data')
    const ended = once(child, 'exit')
    assert.equal(await endLeftVirtualMachines('/data/agent'), 1)
    await ended
  })

  it('are ended directly, so that the first process of their namespace can report how they ended', async () => {
    const child = spawn(
      '/bin/sh',
      ['-c', '(sleep 1000 & echo $!; wait; echo told) & wait', 'keeper', 'dir=/data/agent/instances/a/vm'],
      {
        argv0: '/cache/guest/keeper',
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    )
    started.push(child)
    const said: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => said.push(chunk))
    await once(child.stdout, 'data')
    const ended = once(child, 'close')
    assert.equal(await endLeftVirtualMachines('/data/agent'), 1)
    await ended
    assert.match(Buffer.concat(said).toString(), /told/)
  })

  it('are left alone if the platform ended without them, and ended if it ended with them', async () => {
    const vm = identify(await startKeeper('/data/agent'))
    assert.ok(vm)
    const said: string[] = []
    const log = pino({}, { write: (line: string) => void said.push(line) })
    await settleVirtualMachines('/data/agent', PlatformEnd.KeepVms, log)
    assert.equal(isRunning(vm), true)
    assert.equal(countVirtualMachines('/data/agent'), 1)
    await settleVirtualMachines('/data/agent', PlatformEnd.EndVms, log)
    assert.equal(isRunning(vm), false)
    assert.equal(countVirtualMachines('/data/agent'), 0)
    const told = said.map((line) => JSON.parse(line) as { readonly left: number; readonly msg: string })
    assert.deepEqual(
      told.map(({ left, msg }) => [left, msg]),
      [
        [1, 'virtual machines run on, and the next start takes them over'],
        [1, 'ended virtual machines that the agent had left running'],
      ],
    )
  })

  it('of another stack are left alone', async () => {
    const vm = identify(await startKeeper('/data/agent-2'))
    assert.ok(vm)
    assert.equal(await endLeftVirtualMachines('/data/agent'), 0)
    assert.equal(isRunning(vm), true)
    process.kill(vm.pid, 'SIGKILL')
  })

  it('are not confused with programs that only have the directory in an argument', async () => {
    const other = identify(await startKeeper('/data/agent', '/usr/bin/tail'))
    assert.ok(other)
    assert.equal(await endLeftVirtualMachines('/data/agent'), 0)
    assert.equal(isRunning(other), true)
    process.kill(other.pid, 'SIGKILL')
  })
})
