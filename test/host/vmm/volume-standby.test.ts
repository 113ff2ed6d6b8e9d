import assert from 'node:assert/strict'
import { open, stat } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { StartKind } from '../../../src/domain/instance/start-report.ts'
import type { QemuVmm } from '../../../src/host/vmm/qemu-vmm.ts'
import type { TemplateStore } from '../../../src/host/vmm/template-store.ts'
import type { VmSpec, VmVolume } from '../../../src/host/vmm/vmm.ts'
import { until } from '../../support/until.ts'
import { openQemuBench } from './qemu-bench.ts'
import type { QemuBench } from './qemu-bench.ts'
import { exitOf } from './scene.ts'
import { SmallDisk } from './small-disk.ts'
import { checkVolume, isClean, makeVolume } from './volume-file.ts'

/** A script that writes for ever, never syncs, and prints what it wrote. */
const writer = 'exec 3>>/data/log; while :; do i=$((i+1)); echo $i >&3; echo $i; sleep 0.1; done'

/** The writer prints a number only after it was written, and may have been ended in between. */
function isWritten(lines: string, said: number): boolean {
  return Number(lines) === said || Number(lines) === said + 1
}

const wakeLimitMs = 3_000

async function longerThanAnyWake(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, wakeLimitMs))
}

/** Calls `before` before every fsync of the directory until the work is done. */
async function withSync<T>(
  directory: string,
  before: () => Promise<void>,
  work: () => Promise<T>,
): Promise<T> {
  const known = await stat(directory)
  const handle = await open(directory, 'r')
  const prototype = Object.getPrototypeOf(handle) as FileHandle
  await handle.close()
  // oxlint-disable-next-line typescript/unbound-method -- it is called on each handle
  const sync = prototype.sync
  prototype.sync = async function (this: FileHandle) {
    const { dev, ino } = await this.stat()
    if (dev === known.dev && ino === known.ino) await before()
    await sync.call(this)
  }
  try {
    return await work()
  } finally {
    prototype.sync = sync
  }
}

/** Delays every fsync of the directory until the work is done, as a busy disk does. */
async function whileSyncLasts<T>(directory: string, work: () => Promise<T>): Promise<T> {
  const gate = Promise.withResolvers<void>()
  try {
    return await withSync(directory, async () => await gate.promise, work)
  } finally {
    gate.resolve()
  }
}

/** Fails every fsync of the directory until the work is done, as a broken disk does. */
async function whileSyncFails<T>(directory: string, work: () => Promise<T>): Promise<T> {
  const fail = async () => await Promise.reject(new Error('EIO: i/o error, fsync'))
  return await withSync(directory, fail, work)
}

/** The time limit of tests with many starts in a row, on two cores that other tests use too. */
const manyStartsMs = 180_000

describe('a volume of a QEMU guest that sleeps', () => {
  let bench: QemuBench
  let templates: TemplateStore
  let vmm: QemuVmm
  /** What the VMM reported in this test. */
  let problems: string[] = []
  beforeEach(() => (problems = []))

  before(async () => {
    bench = await openQemuBench()
    templates = bench.templates()
    const onProblem = (message: string) => void problems.push(message)
    vmm = bench.open({ templates, onProblem })
  })
  after(async () => {
    await vmm.close()
    await bench.close()
  })
  afterEach(async () => {
    for (const left of await vmm.recover()) {
      await vmm.kill(left, 'forced')
      await vmm.forget(left)
    }
  })

  async function started(volume: VmVolume, script: string): Promise<VmSpec> {
    const spec = await bench.spec({ argv: ['sh', '-c', script], volume })
    await vmm.start(spec)
    return spec
  }

  async function lastNumber(spec: VmSpec): Promise<number> {
    return Number((await bench.consoleOf(spec)).match(/(\d+)\n$/)?.[1] ?? 0)
  }

  async function untilBeyond(spec: VmSpec, number: number): Promise<number> {
    return await until(
      `it writes more than ${number}`,
      async () => {
        const last = await lastNumber(spec)
        return last > number ? last : undefined
      },
      { limitMs: 30_000 },
    )
  }

  /** Asks the guest until it agrees to standby. A guest that is too busy to answer stays awake. */
  async function untilReady(spec: VmSpec): Promise<void> {
    await until('standby suits it', async () => (await vmm.askToSleep(spec)) === 'ready', { limitMs: 30_000 })
  }

  async function suspended(spec: VmSpec): Promise<VmSpec> {
    await untilReady(spec)
    await vmm.suspend(spec)
    return { ...spec, boot: spec.boot + 1, restore: true }
  }

  it('continues with its guest many times, and is clean whenever the guest sleeps and when it has ended', async function () {
    this.timeout(manyStartsMs)
    const volume = await makeVolume(bench.directory)
    let spec = await started(volume, `trap exit TERM; ${writer}`)
    for (let round = 0; round < 4; round += 1) {
      const before = await untilBeyond(spec, round)
      spec = await suspended(spec)
      assert.ok(await isClean(volume.path))
      const { code, text } = await checkVolume(volume.path)
      assert.equal(code, 0, text)
      assert.equal((await vmm.start(spec)).kind, StartKind.Restore)
      await untilBeyond(spec, before)
    }
    await vmm.shutdown(spec, { graceMs: 20_000 })
    await exitOf(vmm, spec)
    assert.ok(await isClean(volume.path))
    assert.equal((await checkVolume(volume.path)).code, 0)
    const count = await lastNumber(spec)
    await vmm.forget(spec)
    const { console } = await bench.run(vmm, { argv: ['sh', '-c', 'wc -l < /data/log'], volume })
    assert.ok(isWritten(console, count), `${console} of ${count}`)
  })

  it('has all that was written up to the sleep, to the last byte, when its snapshot is dropped', async () => {
    const volume = await makeVolume(bench.directory)
    const spec = await started(volume, writer)
    await untilBeyond(spec, 3)
    const next = await suspended(spec)
    const count = await lastNumber(spec)
    await vmm.dropSnapshot(spec.directory)
    const { console } = await bench.run(vmm, { argv: ['sh', '-c', 'wc -l < /data/log'], volume })
    assert.ok(isWritten(console, count), `${console} of ${count}`)
    assert.notEqual(next.boot, spec.boot)
  })

  it('is not used before its guest’s snapshot is used up for good: not even a power loss brings that back', async () => {
    const volume = await makeVolume(bench.directory)
    const spec = await started(volume, writer)
    const before = await untilBeyond(spec, 1)
    const next = await suspended(spec)
    const synced = await whileSyncLasts(spec.directory, async () => {
      const starting = vmm.start(next)
      await Promise.race([starting, longerThanAnyWake()])
      const status = await vmm.status(next)
      return { starting, ranBefore: status?.started !== undefined }
    })
    assert.equal(synced.ranBefore, false)
    assert.equal((await synced.starting).kind, StartKind.Restore)
    await untilBeyond(next, before)
  })

  it('begins afresh if the disk can not write that the snapshot is used, and that is reported', async () => {
    const volume = await makeVolume(bench.directory)
    const spec = await started(volume, writer)
    await untilBeyond(spec, 1)
    let checked = 0
    const checkAfresh = async () => await Promise.resolve(void (checked += 1))
    const next = { ...(await suspended(spec)), volume: { ...volume, checkAfresh } }
    const { kind } = await whileSyncFails(spec.directory, async () => await vmm.start(next))
    assert.notEqual(kind, StartKind.Restore)
    assert.equal(checked, 1)
    assert.match(problems.join('\n'), /^a snapshot could not be continued: .*EIO: i\/o error, fsync$/)
  })

  it('that is only read does not keep memory from going on then, but the disk is reported', async () => {
    const volume = await makeVolume(bench.directory, { readonly: true })
    const spec = await started(volume, 'sleep 1000000')
    const next = await suspended(spec)
    const { kind } = await whileSyncFails(spec.directory, async () => await vmm.start(next))
    assert.equal(kind, StartKind.Restore)
    assert.match(problems.join('\n'), /^a power failure could bring a used snapshot back: .*EIO/)
  })

  it('rests after it agreed to standby, and is used again if the guest stays awake or is shut down instead', async () => {
    const volume = await makeVolume(bench.directory)
    const spec = await started(volume, `trap exit TERM; ${writer}`)
    await untilBeyond(spec, 1)
    await untilReady(spec)
    const still = await lastNumber(spec)
    assert.ok(await isClean(volume.path))
    await vmm.stayAwake(spec)
    await untilBeyond(spec, still + 2)
    await untilReady(spec)
    await vmm.shutdown(spec, { graceMs: 20_000 })
    assert.notEqual((await exitOf(vmm, spec)).killedAtShutdown, true)
    assert.ok(await isClean(volume.path))
  })

  it('can not sleep while its host has no room for what it writes, and goes on afterwards', async () => {
    const disk = await SmallDisk.open(64)
    try {
      const volume = await makeVolume(disk.directory, { sizeMb: 96 })
      await disk.fillUp({ leavingMb: 8 })
      const told = { begun: Promise.withResolvers<void>(), ended: Promise.withResolvers<void>() }
      vmm.onStalled((_, now) => (now ? told.begun : told.ended).resolve())
      const spec = await started(
        volume,
        'head -c 30000000 /dev/urandom > /data/x; sync; echo 1; sleep 1000000',
      )
      await told.begun.promise
      assert.equal(await vmm.askToSleep(spec), 'disabled')
      await assert.rejects(vmm.suspend(spec), { name: 'VmmError', message: /could not be suspended/ })
      await disk.makeRoom()
      await told.ended.promise
      await untilBeyond(spec, 0)
      await suspended(spec)
      assert.equal((await checkVolume(volume.path)).code, 0)
    } finally {
      await disk.close()
    }
  })

  it('can have any size and rights in a start from a template, and has templates for VMs with volumes', async function () {
    this.timeout(manyStartsMs)
    const first = await started(await makeVolume(bench.directory), 'sleep 1000000')
    await vmm.kill(first, 'forced')
    await vmm.forget(first)
    await templates.settled()
    assert.deepEqual(bench.problems, [])
    for (const [sizeMb, readonly] of [
      [16, false],
      [2_000, false],
      [100, true],
    ] as const) {
      const volume = await makeVolume(bench.directory, { sizeMb, readonly })
      const script = 'df -m /data | tail -1; touch /data/x && echo made'
      const spec = await bench.spec({ argv: ['sh', '-c', script], volume })
      assert.equal((await vmm.start(spec)).kind, StartKind.Template, `${sizeMb}: ${bench.problems.join()}`)
      await exitOf(vmm, spec)
      const printed = await bench.consoleOf(spec)
      const blocks = Number(printed.trim().split(/\s+/)[1])
      assert.ok(blocks > sizeMb * 0.7 && blocks <= sizeMb, printed)
      assert.equal(printed.includes('made'), !readonly)
      await vmm.forget(spec)
    }
    const without = await bench.spec({ argv: ['true'] })
    assert.equal((await vmm.start(without)).kind, StartKind.Boot)
    await exitOf(vmm, without)
  })
})
