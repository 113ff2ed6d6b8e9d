import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { findEvent } from '../../../src/host/vmm/vm-events.ts'
import { until } from '../../support/until.ts'
import { KeeperScene } from './keeper-scene.ts'

const limit = { limitMs: 60_000 }
/**
 * Lines of 64 bytes. They are 160 KiB: more than two reads of the keeper, one before it sees the end of the
 * VM and one after that, and less than the channel holds.
 */
const lines = 2_560

describe('the keeper of a VM that has ended', () => {
  const scene = new KeeperScene()

  it('keeps all of the application’s last output, also what is beyond the last 64 KiB', async () => {
    const vm = await scene.start({ name: 'last', says: ['last', String(lines)] })
    await until('the guest listens', () => findEvent(vm.events(), 'listen'), limit)
    const vmm = Number(findEvent(vm.events(), 'qemu')?.words[0])
    // The keeper comes to read only when its VM is gone, as on a busy host.
    process.kill(vm.pid, 'SIGSTOP')
    process.kill(vmm, 'SIGUSR1')
    const state = () => /\) (.)/.exec(readFileSync(`/proc/${vmm}/stat`, 'utf8'))?.[1]
    await until('the VMM has ended', () => state() === 'Z', limit)
    process.kill(vm.pid, 'SIGCONT')
    await until('the keeper has told the end', () => findEvent(vm.events(), 'ended'), limit)
    const printed = readFileSync(path.join(vm.directory, '0000000000000000.log'), 'utf8')
    const numbers = printed
      .split('\n')
      .slice(0, -1)
      .map((line) => Number(line.replaceAll('.', '')))
    assert.deepEqual(numbers, [...Array(lines).keys()])
  })
})
