import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { StartKind } from '../../../src/domain/instance/start-report.ts'
import type { StartReport } from '../../../src/domain/instance/start-report.ts'
import { planMachine, templateKey } from '../../../src/host/vmm/machine-plan.ts'
import { QemuVmm } from '../../../src/host/vmm/qemu-vmm.ts'
import type { TemplateStore } from '../../../src/host/vmm/template-store.ts'
import { spawnVm } from '../../../src/host/vmm/vm-spawn.ts'
import { WaitingKeepers } from '../../../src/host/vmm/waiting-keepers.ts'
import { openQemuBench } from './qemu-bench.ts'
import type { QemuBench } from './qemu-bench.ts'
import { exitOf } from './scene.ts'

/** A script that prints what must differ between two guests of one template, or must be right in each. */
const tellTale = [
  'cat /proc/sys/kernel/random/boot_id',
  'head -c 32 /dev/urandom | od -An -tx1 | tr -d " \\n"; echo',
  'cat /sys/class/net/eth0/address',
  'date +%s',
  'cat /made 2>/dev/null; echo mine > /made',
].join('; ')

describe('a start from a template', () => {
  let bench: QemuBench
  let templates: TemplateStore
  let vmm: QemuVmm

  before(async () => {
    bench = await openQemuBench()
    templates = bench.templates()
    vmm = new QemuVmm({ instancesDirectory: bench.instancesDirectory, ...bench.context, templates })
  })
  after(async () => {
    await vmm.close()
    await bench.close()
  })

  async function runTellTale(): Promise<{ started: StartReport; lines: readonly string[]; mac: string }> {
    const spec = await bench.spec({ argv: ['sh', '-c', tellTale] })
    const started = await vmm.start(spec)
    await exitOf(vmm, spec)
    const lines = (await bench.consoleOf(spec)).trim().split('\n')
    await vmm.forget(spec)
    return { started, lines, mac: spec.attachment.mac }
  }

  it('follows a plain boot, and nothing of one instance reaches another', async () => {
    const first = await runTellTale()
    assert.equal(first.started.kind, StartKind.Boot)
    await templates.settled()
    const runs = [await runTellTale(), await runTellTale()]
    assert.deepEqual(bench.problems, [])
    for (const { started, lines, mac } of runs) {
      assert.equal(started.kind, StartKind.Template)
      assert.equal(lines.length, 4, 'no file of another instance')
      assert.equal(lines[2], mac)
      assert.ok(Math.abs(Number(lines[3]) - started.startedAtMs / 1000) < 10)
    }
    const quickestUs = Math.min(...runs.map(({ started }) => started.bootTimeUs))
    assert.ok(quickestUs < first.started.bootTimeUs, 'it is quicker than the boot')
    for (const line of [0, 1, 2]) {
      const values = [first, ...runs].map(({ lines }) => lines[line])
      assert.equal(
        new Set(values).size,
        values.length,
        `line ${line} differs everywhere: ${values.join(' ')}`,
      )
    }
  })

  it('is not for machines of another size', async () => {
    const spec = await bench.spec({ argv: ['true'], memoryMb: 160 })
    assert.equal((await vmm.start(spec)).kind, StartKind.Boot)
    await exitOf(vmm, spec)
    await templates.settled()
  })

  it('that hangs ends by its own limit, even if the process that began it is gone', async () => {
    const spec = await bench.spec({ argv: ['true'] })
    const plan = planMachine(spec, bench.context, templates.take(spec))
    assert.equal(plan.kind, StartKind.Template)
    const keepers = new WaitingKeepers(bench.keeperPrograms)
    // With `-S` the VM never runs.
    const hanging = { ...plan, command: [...plan.command, '-S'] }
    const askedAtUs = Date.now() * 1_000
    const vm = await spawnVm({ spec, plan: hanging, askedAtUs, options: bench.context, keepers })
    vm.release()
    await keepers.close()
    const next = bench.open({ startLimitsMs: { template: 300 } })
    await next.recover()
    assert.notEqual(await next.status(spec), undefined)
    const late = { failure: 'BootFailed', message: /^no application within 0\.3 s/ }
    await assert.rejects(next.start(spec), late)
    assert.equal(await next.status(spec), undefined)
    await next.close()
  })

  it('that fails becomes a plain boot, and the template is given up', async () => {
    const spec = await bench.spec({ argv: ['sh', '-c', 'exit 3'] })
    const statePath = path.join(bench.directory, 'templates', `${templateKey(spec, bench.context)}.state`)
    const state = await readFile(statePath)
    await writeFile(statePath, state.subarray(0, state.length >> 1))
    assert.equal((await vmm.start(spec)).kind, StartKind.Boot)
    assert.equal((await exitOf(vmm, spec)).exitCode, 3)
    assert.equal(bench.problems.length, 1)
    assert.equal(templates.take(spec), undefined)
  })

  it('that is only late becomes a plain boot, and the template stays unless no start from it has succeeded yet', async () => {
    const own = bench.templates()
    const limits = { template: 1 }
    const hurried = bench.open({ templates: own, startLimitsMs: limits })
    const start = async (memoryMb: number) => {
      const spec = await bench.spec({ argv: ['true'], memoryMb })
      const { kind } = await hurried.start(spec)
      await exitOf(hurried, spec)
      await hurried.forget(spec)
      await own.settled()
      return { kind, hasTemplate: own.take(spec) !== undefined }
    }
    try {
      assert.deepEqual(await start(128), { kind: StartKind.Boot, hasTemplate: true })
      limits.template = 60_000
      assert.deepEqual(await start(128), { kind: StartKind.Template, hasTemplate: true })
      limits.template = 1
      assert.deepEqual(await start(128), { kind: StartKind.Boot, hasTemplate: true })
      assert.match(bench.problems.at(-1) ?? '', /^a start from a template was late, so a plain boot follows/)
      assert.deepEqual(await start(160), { kind: StartKind.Boot, hasTemplate: true })
      assert.deepEqual(await start(160), { kind: StartKind.Boot, hasTemplate: false })
    } finally {
      bench.problems.splice(0)
      await hurried.close()
    }
  })
})
