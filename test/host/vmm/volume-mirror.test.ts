import assert from 'node:assert/strict'
import { readFile, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { QemuVmm } from '../../../src/host/vmm/qemu-vmm.ts'
import type { VmSpec } from '../../../src/host/vmm/vmm.ts'
import { until } from '../../support/until.ts'
import { MirrorCopy } from './mirror-copy.ts'
import { openQemuBench } from './qemu-bench.ts'
import type { QemuBench } from './qemu-bench.ts'
import { makeVolume, mendVolume } from './volume-file.ts'

/** A script that writes and syncs for ever, and prints how often it did. */
const writer =
  'while :; do i=$((i+1)); dd if=/dev/urandom of=/data/$((i%20)) bs=64k count=4 conv=fsync 2>&-; echo $i; done'

describe('a volume of a QEMU guest that is copied while the guest writes to it', () => {
  let bench: QemuBench
  let vmm: QemuVmm

  before(async () => {
    bench = await openQemuBench()
    vmm = bench.open()
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

  async function mirrored() {
    const volume = await makeVolume(bench.directory)
    const spec = await bench.spec({ argv: ['sh', '-c', writer], volume })
    await vmm.start(spec)
    await untilMore(spec, 0)
    const copy = new MirrorCopy((await stat(volume.path)).size)
    const mirror = await vmm.mirror(spec, copy)
    assert.equal(await mirror.ready, true)
    return { spec, file: volume.path, copy, mirror }
  }

  async function untilMore(spec: VmSpec, count: number): Promise<number> {
    const more = async () => {
      const last = Number((await bench.consoleOf(spec)).match(/(\d+)\n$/)?.[1] ?? 0)
      return last > count ? last : undefined
    }
    return await until(`it has written more than ${count} times`, more, { limitMs: 30_000 })
  }

  async function suspend(spec: VmSpec): Promise<void> {
    await until('standby suits it', async () => (await vmm.askToSleep(spec)) === 'ready', { limitMs: 30_000 })
    await vmm.suspend(spec)
  }

  it('the copy has all that was written until the guest fell asleep', async () => {
    const { spec, file, copy, mirror } = await mirrored()
    const atFirst = Buffer.from(copy.content)
    await untilMore(spec, (await untilMore(spec, 0)) + 5)
    await suspend(spec)
    assert.equal(await mirror.over, true)
    assert.ok(copy.content.equals(await readFile(file)), 'the copy is not what the volume is')
    assert.ok(!copy.content.equals(atFirst), 'nothing was written while the copy followed')
    const copied = path.join(bench.directory, 'copied.img')
    await writeFile(copied, copy.content)
    assert.equal((await mendVolume(copied)).code, 0)
  })

  it('the guest falls asleep after a while even if the rest is not taken', async () => {
    const { spec, copy, mirror } = await mirrored()
    copy.hangs = true
    await untilMore(spec, (await untilMore(spec, 0)) + 2)
    await suspend(spec)
    copy.goOn()
    assert.equal(await mirror.over, false)
  })
})
