import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { openBootClock, uptimeMs } from '../../../src/host/agent/boot-clock.ts'
import { TermFile } from '../../../src/host/agent/term-file.ts'
import { ExitCause } from '../../../src/domain/instance/exit-report.ts'
import { connectKeeper } from '../../../src/host/vmm/keeper-link.ts'
import { exitReportOf, findEvent } from '../../../src/host/vmm/vm-events.ts'
import type { VmRecord } from '../../../src/host/vmm/vm-record.ts'
import { until } from '../../support/until.ts'
import { KeeperScene } from './keeper-scene.ts'
import type { StandInVm } from './keeper-scene.ts'

const limit = { limitMs: 60_000 }
const termMs = 3_000
/** The VM may take long to come up on a busy machine, and must not end before. */
const longTermMs = 120_000
/** A process that is killed is gone a moment later, and this process may look late. */
const endingMs = 2_000

describe('the keeper of a host with a term', () => {
  const scene = new KeeperScene()
  let file: TermFile
  let termPath: string
  let clock: () => number
  let number = 0

  beforeEach(async () => {
    clock = await openBootClock(scene.keeperPath)
    number += 1
    termPath = path.join(scene.directory, `term-${number}`)
    file = await TermFile.open(termPath, 'this-boot')
  })
  afterEach(async () => await file.close())

  async function startVm(): Promise<StandInVm & { readonly vmm: number }> {
    const vm = await scene.start({ name: `term-vm-${number}`, says: ['awake'], termPath })
    await until('its guest runs', () => findEvent(vm.events(), 'running'), limit)
    return { ...vm, vmm: Number(findEvent(vm.events(), 'qemu')?.words[0]) }
  }

  /** Has the keeper read the file, and returns the deadline that it knows then. */
  async function knownDeadline(): Promise<number> {
    const link = await connectKeeper(path.join(scene.directory, `term-vm-${number}`))
    assert.ok(link !== undefined)
    const heard = new Promise<string>((resolve) => {
      link.on('word', (word) => void (word.startsWith('term ') && resolve(word)))
    })
    link.command('term')
    const word = await heard
    link.close()
    return Number(word.slice('term '.length))
  }

  /** Starts a VM whose keeper knows a deadline that is so far away from the moment of the answer. */
  async function startWithin(leftMs: number) {
    await file.write(clock() + longTermMs)
    const vm = await startVm()
    const deadlineMs = Math.floor(clock() + leftMs)
    await file.write(deadlineMs)
    assert.equal(await knownDeadline(), deadlineMs)
    return { ...vm, deadlineMs }
  }

  /** When the keeper killed the VM, by the clock of deadlines. */
  function killedAtMs(vm: StandInVm): number {
    const { atUs = NaN } = findEvent(vm.events(), 'kill') ?? {}
    return clock() - (Date.now() - atUs / 1_000)
  }

  /** A process that has ended may be waiting for its new parent to look after it. */
  function lives(pid: number): boolean {
    try {
      return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
    } catch {
      return false
    }
  }

  const isGone = async (pid: number): Promise<unknown> =>
    await until('the process has ended', () => !lives(pid), { limitMs: termMs + 5_000 })

  it('ends a VM by the deadline if nobody extends it, and says why', async () => {
    const { deadlineMs, vmm, ...vm } = await startWithin(termMs)
    await isGone(vmm)
    assert.ok(killedAtMs(vm) < deadlineMs, 'it was killed before the deadline')
    assert.ok(killedAtMs(vm) > deadlineMs - 1_500, 'it was not killed much too early')
    await until('its end is recorded', () => findEvent(vm.events(), 'ended'), limit)
    const record = { boot: 1, guest: 'container', kind: 'restore' } as VmRecord
    assert.equal(exitReportOf(record, vm.events())?.cause, ExitCause.HostHalted)
  })

  it('lets it go on as long as the deadline is extended', async () => {
    const { vmm } = await startWithin(termMs)
    for (let extended = 0; extended < 10; extended += 1) {
      await file.write(clock() + termMs)
      await delay(termMs / 5)
    }
    assert.ok(lives(vmm))
    await isGone(vmm)
  })

  it('ends with its VM by the deadline, even if it and the VMM are stopped', async () => {
    const { deadlineMs, vmm, pid } = await startWithin(termMs)
    process.kill(vmm, 'SIGSTOP')
    process.kill(pid, 'SIGSTOP')
    await isGone(vmm)
    assert.ok(clock() < deadlineMs + endingMs)
  })

  it('is not ended by the deadline that it knew first once it has read a later one', async () => {
    const { deadlineMs, vmm, pid } = await startWithin(termMs)
    await file.write(clock() + longTermMs)
    assert.ok((await knownDeadline()) > deadlineMs)
    process.kill(pid, 'SIGSTOP')
    await delay(deadlineMs - clock() + endingMs)
    assert.ok(lives(vmm))
    process.kill(pid, 'SIGCONT')
  })

  it('reads a damaged file again, and otherwise keeps to the deadline that it knew', async () => {
    const { deadlineMs, vmm, ...vm } = await startWithin(termMs)
    writeFileSync(termPath, `${'9'.repeat(16)} ${'8'.repeat(16)} this-boot\n`)
    await isGone(vmm)
    assert.ok(killedAtMs(vm) < deadlineMs)
  })

  it('starts no VM if the term is over, or the file is damaged from the start', async () => {
    for (const [index, text] of [`${'0'.repeat(16)} ${'0'.repeat(16)} boot\n`, 'nothing\n'].entries()) {
      writeFileSync(termPath, text)
      const vm = await scene.start({ name: `term-over-${index}`, says: ['awake'], termPath })
      await until('it has ended', () => findEvent(vm.events(), 'ended'), limit)
      assert.deepEqual(
        vm
          .events()
          .map(({ what, words }) => [what, words[0]])
          .slice(1),
        [
          ['kill', 'host-cut-off'],
          ['ended', 'signal'],
        ],
      )
    }
  })

  it('has no timer without a term, until it is told that one began', async () => {
    await file.write(undefined)
    const { vmm, ...vm } = await startVm()
    assert.equal(await knownDeadline(), -1)
    const deadlineMs = clock() + termMs
    await file.write(deadlineMs)
    assert.equal(await knownDeadline(), Math.floor(deadlineMs))
    await isGone(vmm)
    assert.ok(killedAtMs(vm) < deadlineMs)
  })

  it('tells a clock that is never ahead, whenever /proc/uptime began', async () => {
    const late = await openBootClock(scene.keeperPath, () => uptimeMs() - 1_000_000)
    assert.ok(Math.abs(late() - clock()) < 1_000)
    assert.ok(late() <= uptimeMs() + 20)
  })
})
