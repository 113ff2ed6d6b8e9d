import assert from 'node:assert/strict'
import { readFile, stat } from 'node:fs/promises'
import type { VmSpec } from '../../../src/host/vmm/vmm.ts'
import { until } from '../../support/until.ts'
import { MirrorCopy } from './mirror-copy.ts'
import { VmmScene } from './scene.ts'
import type { VmmWorld } from './scene.ts'

/** What every VMM must do to copy a volume while its VM runs. */
export function mirrorConformance(makeWorld: () => Promise<VmmWorld>): void {
  const scene = new VmmScene(makeWorld)

  async function copyFor({ volume }: VmSpec): Promise<MirrorCopy> {
    return new MirrorCopy(volume?.path === undefined ? 1024 * 1024 : (await stat(volume.path)).size)
  }

  async function mirrored() {
    const spec = await scene.start({ volume: 'usable' })
    const copy = await copyFor(spec)
    const mirror = await scene.vmm.mirror(spec, copy)
    return { spec, copy, mirror }
  }

  async function suspend(spec: VmSpec): Promise<void> {
    assert.equal(await scene.vmm.askToSleep(spec), 'ready')
    await scene.vmm.suspend(spec)
  }

  async function assertRuns(spec: VmSpec): Promise<void> {
    const status = await scene.vmm.status(spec)
    assert.ok(status?.started !== undefined && status.exit === undefined)
  }

  it('the copy of a volume is what the volume is once its VM sleeps', async () => {
    const { spec, copy, mirror } = await mirrored()
    assert.equal(await mirror.ready, true)
    await assertRuns(spec)
    await suspend(spec)
    assert.equal(await mirror.over, true)
    if (spec.volume?.path !== undefined)
      assert.ok(copy.content.equals(await readFile(spec.volume.path)), 'the copy is another one')
  })

  it('a copy is of no use if its VM is killed', async () => {
    const { spec, mirror } = await mirrored()
    assert.equal(await mirror.ready, true)
    await scene.vmm.kill(spec, 'forced')
    assert.equal(await mirror.over, false)
  })

  it('a copy is of no use if its VM is shut down', async () => {
    const { spec, mirror } = await mirrored()
    assert.equal(await mirror.ready, true)
    await scene.vmm.shutdown(spec, { graceMs: 20_000 })
    assert.equal(await mirror.over, false)
  })

  it('a copy can be called off, the VM runs on, and the next copy begins afresh', async () => {
    const { spec, mirror } = await mirrored()
    assert.equal(await mirror.ready, true)
    await assert.rejects(scene.vmm.mirror(spec, await copyFor(spec)), { name: 'VmmError' })
    mirror.cancel()
    assert.equal(await mirror.over, false)
    await assertRuns(spec)
    await mirrorAgain(spec)
  })

  /** Until the VMM has noticed the end of the mirror before, it refuses another one. */
  async function mirrorAgain(spec: VmSpec): Promise<void> {
    const copy = await copyFor(spec)
    const begun = async () => await scene.vmm.mirror(spec, copy).catch(() => undefined)
    const next = await until('the next copy begins', begun, { limitMs: 20_000 })
    assert.equal(await next.ready, true)
    await suspend(spec)
    assert.equal(await next.over, true)
  }

  it('a target that fails ends the copy, and the VM runs on and sleeps as before', async () => {
    const spec = await scene.start({ volume: 'usable' })
    const copy = await copyFor(spec)
    copy.fails = true
    const mirror = await scene.vmm.mirror(spec, copy)
    assert.deepEqual([await mirror.ready, await mirror.over], [false, false])
    await assertRuns(spec)
    await suspend(spec)
  })

  it('a VM that is suspended does not wait for a copy that has not got all', async () => {
    const spec = await scene.start({ volume: 'usable' })
    const copy = await copyFor(spec)
    copy.hangs = true
    const mirror = await scene.vmm.mirror(spec, copy)
    await suspend(spec)
    copy.goOn()
    assert.deepEqual([await mirror.ready, await mirror.over], [false, false])
  })

  it('a copy ends with its agent, and the next agent may begin another one', async () => {
    const { spec, mirror } = await mirrored()
    assert.equal(await mirror.ready, true)
    await (await scene.reopen()).recover()
    await mirrorAgain(spec)
  })

  it('a VM without a volume has nothing to copy', async () => {
    const spec = await scene.start({})
    await assert.rejects(scene.vmm.mirror(spec, await copyFor(spec)), { name: 'VmmError' })
    await assert.rejects(scene.vmm.mirror({ ...spec, boot: 2 }, await copyFor(spec)), { name: 'VmmError' })
  })
}
