import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { packCpio } from '../../../guest/cpio.mjs'
import { StartKind } from '../../../src/domain/instance/start-report.ts'
import { planMachine } from '../../../src/host/vmm/machine-plan.ts'
import type { PlanContext } from '../../../src/host/vmm/machine-plan.ts'
import { readRest } from '../../../src/host/vmm/process-stat.ts'
import { QemuVmm } from '../../../src/host/vmm/qemu-vmm.ts'
import { TemplateStore } from '../../../src/host/vmm/template-store.ts'
import { spawnVm } from '../../../src/host/vmm/vm-spawn.ts'
import { WaitingKeepers } from '../../../src/host/vmm/waiting-keepers.ts'
import { until } from '../../support/until.ts'
import { openQemuBench } from './qemu-bench.ts'
import type { QemuBench } from './qemu-bench.ts'
import { exitOf } from './scene.ts'

const limit = { limitMs: 10_000 }

describe('a guest that stands still while its kernel boots', () => {
  let bench: QemuBench
  let context: PlanContext

  before(async () => {
    bench = await openQemuBench()
    const initrdPath = path.join(bench.directory, 'initrd.cpio')
    context = { ...bench.context, assets: { ...bench.context.assets, initrdPath } }
  })
  after(async () => {
    await bench.close()
  })

  /** Makes the next guest sleep where the platform's init would say that the guest is ready. */
  function letGuestSleep(): void {
    const busybox = readFileSync('/bin/busybox')
    const sleeper = packCpio([
      { name: 'init', mode: 0o100755, data: Buffer.from('#!/busybox sh\nexec /busybox sleep 1000000\n') },
      { name: 'busybox', mode: 0o100755, data: busybox },
    ])
    writeFileSync(context.assets.initrdPath, sleeper)
  }

  /**
   * Lets the next guest boot. This is done when the function returns, because the next boot follows at once.
   */
  function letGuestBoot(): void {
    copyFileSync(bench.context.assets.initrdPath, context.assets.initrdPath)
  }

  /** A VMM that keeps its problems and calls `mend` at each of them. */
  function open(mend: () => void): { readonly vmm: QemuVmm; readonly problems: string[] } {
    const problems: string[] = []
    const onProblem = (message: string) => {
      problems.push(message)
      mend()
    }
    const { instancesDirectory } = bench
    return { vmm: new QemuVmm({ instancesDirectory, ...context, onProblem }), problems }
  }

  it('is booted again, and that is reported', async () => {
    letGuestSleep()
    const { vmm, problems } = open(letGuestBoot)
    const spec = await bench.spec({ argv: ['true'] })
    const started = await vmm.start(spec)
    assert.equal(started.kind, StartKind.Boot)
    assert.equal(problems.length, 1)
    assert.match(problems[0] ?? '', /^a boot is tried again: the guest stood still: for 2 s /)
    assert.equal((await exitOf(vmm, spec)).exitCode, 0)
    await vmm.forget(spec)
    await vmm.close()
  })

  it('is a failed boot when it does so each time, and leaves no VM', async () => {
    letGuestSleep()
    const { vmm, problems } = open(() => undefined)
    const spec = await bench.spec({ argv: ['true'] })
    await assert.rejects(vmm.start(spec), { failure: 'BootFailed', message: /^the guest stood still/ })
    assert.equal(problems.length, 2)
    assert.deepEqual(await vmm.recover(), [])
    await vmm.close()
  })

  it('does not keep a template from being made', async () => {
    letGuestSleep()
    const problems: string[] = []
    const templates = new TemplateStore(context, path.join(bench.directory, 'still'), (message) => {
      problems.push(message)
      letGuestBoot()
    })
    const spec = await bench.spec({ argv: ['true'] })
    templates.provide(spec)
    await templates.settled()
    assert.notEqual(templates.take(spec), undefined)
    assert.equal(problems.length, 1)
    assert.match(problems[0] ?? '', /^a boot is tried again: the guest stood still/)
    await templates.close()
  })
})

describe('a guest whose kernel has no timer, or one at a wrong rate', () => {
  let bench: QemuBench
  before(async () => {
    bench = await openQemuBench()
  })
  after(async () => {
    await bench.close()
  })

  /** Told that its clock is three times as fast as it is, a kernel waits three times as long. */
  const tooSlow = (): PlanContext => {
    const { facts } = bench.context
    return { ...bench.context, facts: { ...facts, tscKhz: facts.tscKhz * 3 } }
  }

  /** Starts a VM with this command and has another process wait for it. */
  async function startWith(changed: (command: readonly string[]) => readonly string[], context: PlanContext) {
    const spec = await bench.spec({ argv: ['true'] })
    const plan = planMachine(spec, context)
    const command = changed(plan.command)
    const keepers = new WaitingKeepers(bench.keeperPrograms)
    const askedAtUs = Date.now() * 1_000
    const vm = await spawnVm({ spec, plan: { ...plan, command }, askedAtUs, options: context, keepers })
    vm.release()
    await keepers.close()
    const vmm = bench.open()
    await vmm.recover()
    try {
      await vmm.start(spec)
    } finally {
      await vmm.close()
    }
  }

  it('stands still before it is ready', async () => {
    const stoodStill = { failure: 'BootFailed', message: /^the guest stood still/ }
    const withoutTimer = (command: readonly string[]) =>
      command.map((one) => (one.startsWith('tsc_early_khz=') ? `${one} nolapic_timer` : one))
    await assert.rejects(startWith(withoutTimer, bench.context), stoodStill)
    await assert.rejects(
      startWith((command) => command, tooSlow()),
      stoodStill,
    )
  })

  it('does not become a template', async () => {
    const problems: string[] = []
    const directory = path.join(bench.directory, 'wrong')
    const templates = new TemplateStore(tooSlow(), directory, (message) => problems.push(message))
    const spec = await bench.spec({ argv: ['true'] })
    templates.provide(spec)
    await templates.settled()
    assert.equal(templates.take(spec), undefined)
    assert.match(problems.at(-1) ?? '', /^no template could be made/)
    await templates.close()
  })
})

describe('whether a process is at rest', () => {
  async function withProcess(script: string, look: (pid: number) => Promise<void>): Promise<void> {
    const child = spawn('/usr/bin/bash', ['-c', script], { stdio: 'ignore', detached: true })
    const { pid } = child
    assert.ok(pid !== undefined)
    try {
      await look(pid)
    } finally {
      process.kill(-pid, 'SIGKILL')
      await once(child, 'exit')
    }
  }
  const isAsleep = (pid: number) => readRest(pid)?.isAsleep

  it('is asleep if it and all its descendants sleep', async () => {
    await withProcess('sleep 1000 & wait', async (pid) => {
      await until('both sleep', () => isAsleep(pid) === true, limit)
    })
  })

  it('is not asleep if one of its descendants runs', async () => {
    await withProcess('while :; do :; done & wait', async (pid) => {
      const first = await until('it has run', () => readRest(pid)?.cpuTimeMs || undefined, limit)
      assert.equal(isAsleep(pid), false)
      await until('more time is used', () => (readRest(pid)?.cpuTimeMs ?? 0) > first, limit)
    })
  })

  it('is not asleep if it was stopped, and unknown if it is gone', async () => {
    let gone = 0
    await withProcess('sleep 1000 & wait', async (pid) => {
      await until('both sleep', () => isAsleep(pid) === true, limit)
      process.kill(pid, 'SIGSTOP')
      await until('it is stopped', () => isAsleep(pid) === false, limit)
      gone = pid
    })
    assert.equal(readRest(gone), undefined)
  })
})
