import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { ExitCause } from '../../../src/domain/instance/exit-report.ts'
import { openBootClock } from '../../../src/host/agent/boot-clock.ts'
import { TermFile } from '../../../src/host/agent/term-file.ts'
import type { QemuVmm } from '../../../src/host/vmm/qemu-vmm.ts'
import type { VmSpec } from '../../../src/host/vmm/vmm.ts'
import { familyOf } from '../../support/processes.ts'
import { until } from '../../support/until.ts'
import { openQemuBench } from './qemu-bench.ts'
import type { QemuBench } from './qemu-bench.ts'
import { exitOf } from './scene.ts'

const argv = ['/bin/sleep', '1000']
const termMs = 4_000

describe('the VMs of a host with a term', () => {
  let bench: QemuBench
  let file: TermFile
  let termPath: string
  let clock: () => number
  let vmm: QemuVmm
  const started: VmSpec[] = []

  before(async () => {
    bench = await openQemuBench()
    termPath = path.join(bench.directory, 'term')
    file = await TermFile.open(termPath, 'this-boot')
    clock = await openBootClock(bench.context.assets.keeperPath)
  })
  beforeEach(async () => {
    await file.write(undefined)
    vmm = bench.open({ termPath })
  })
  afterEach(async () => {
    for (const spec of started.splice(0)) {
      await vmm.kill(spec, 'forced')
      await vmm.forget(spec)
    }
    await vmm.close()
  })
  after(async () => {
    await file.close()
    await bench.close()
  })

  function statusOf(pid: number): string {
    try {
      return readFileSync(`/proc/${pid}/status`, 'utf8')
    } catch {
      return ''
    }
  }

  async function start(by: QemuVmm): Promise<VmSpec> {
    const spec = await bench.spec({ argv })
    started.push(spec)
    await by.start(spec)
    return spec
  }

  it('have ended by its deadline, for the host and not by themselves', async () => {
    const spec = await start(vmm)
    assert.equal(vmm.terms.isKept(), true)
    const deadlineMs = clock() + termMs
    await file.write(deadlineMs)
    assert.equal(await vmm.terms.heed(), true)
    const { cause, applicationStarted } = await exitOf(vmm, spec)
    assert.ok(clock() < deadlineMs)
    assert.deepEqual({ cause, applicationStarted }, { cause: ExitCause.HostHalted, applicationStarted: true })
  })

  it('are asked even while they are being started', async () => {
    const starting = start(vmm)
    const deadlineMs = clock() + termMs
    await file.write(deadlineMs)
    assert.equal(await vmm.terms.heed(), true)
    await starting.catch(() => undefined)
    const [spec] = started
    assert.ok(spec !== undefined)
    await exitOf(vmm, spec)
    assert.ok(clock() < deadlineMs)
  })

  it('have ended by its deadline even if the agent is gone, and all processes of the VM are stopped', async () => {
    const spec = await start(vmm)
    const deadlineMs = clock() + termMs
    await file.write(deadlineMs)
    assert.equal(await vmm.terms.heed(), true)
    await vmm.close()
    const [keeper, qemu] = [await bench.pidOf(spec, 'keeper'), await bench.pidOf(spec, 'qemu')]
    const family = familyOf(keeper)
    assert.ok(family.includes(qemu))
    for (const pid of family) process.kill(pid, 'SIGSTOP')
    const isGone = (pid: number) => !/^State:\s+[^ZX]/m.test(statusOf(pid))
    await until('the VM has ended', () => isGone(qemu) && isGone(keeper), { limitMs: 2 * termMs })
    assert.ok(clock() < deadlineMs + 500)
    // The first process of the namespace was between them, and ends when it may go on.
    for (const pid of family.filter((each) => !isGone(each))) process.kill(pid, 'SIGCONT')
    await until('all have ended', () => family.every(isGone), { limitMs: termMs })
    vmm = bench.open({ termPath })
    await vmm.recover()
  })

  it('do not start after it', async () => {
    await file.write(0)
    await assert.rejects(async () => await start(vmm), { failure: 'BootFailed' })
  })

  it('are known not to keep it if their keeper knows none, also to the next agent', async () => {
    const before = bench.open()
    await start(before)
    assert.equal(before.terms.isKept(), false)
    assert.equal(await before.terms.heed(), false)
    await before.close()
    await vmm.recover()
    assert.equal(vmm.terms.isKept(), false)
    assert.equal(await vmm.terms.heed(), false)
  })

  it('are known not to heed it while a keeper is stopped', async () => {
    const spec = await start(vmm)
    const keeper = await bench.pidOf(spec, 'keeper')
    process.kill(keeper, 'SIGSTOP')
    try {
      assert.equal(await vmm.terms.heed(), false)
    } finally {
      process.kill(keeper, 'SIGCONT')
    }
  })
})
