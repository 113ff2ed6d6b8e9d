import assert from 'node:assert/strict'
import { footprintMb } from '../../../src/domain/host/memory-room.ts'
import type { HostMemory } from '../../../src/domain/host/memory-room.ts'
import { StartKind } from '../../../src/domain/instance/start-report.ts'
import type { VmmError } from '../../../src/host/vmm/vmm.ts'
import { VmmScene } from './scene.ts'
import type { VmmWorld } from './scene.ts'

/** The memory that a VM of a scene takes of its host. Its spec asks for 128 MB. */
const vmMb = footprintMb(128)
/** A host with memory for exactly two such VMs. */
export const memoryForTwo: HostMemory = { totalMb: 2 * vmMb + 100, reserveMb: 100, overcommit: 1 }

/** What every VMM must do about the memory of its host; the world opens it with `memoryForTwo`. */
export function memoryConformance(makeWorld: () => Promise<VmmWorld>): void {
  const scene = new VmmScene(makeWorld)
  const full = { name: 'VmmError', failure: 'HostFull' }

  it('refuses a start beyond the memory of its host, names the figures, and leaves no VM', async () => {
    await scene.start({})
    await scene.start({})
    const third = await scene.prepare({})
    await assert.rejects(scene.vmm.start(third), {
      ...full,
      message: new RegExp(`needs ${vmMb} MiB .*others use ${2 * vmMb} of ${2 * vmMb} MiB .*less 100 for`),
    })
    assert.equal(await scene.vmm.status(third), undefined)
    assert.partialDeepStrictEqual(scene.vmm.memory(), { instancesMb: 2 * vmMb, refusals: 1 })
  })

  it('says beforehand whether it would refuse a start, and drops nothing for that', async () => {
    const first = await scene.start({})
    scene.vmm.checkMemory(await scene.prepare({}))
    const second = await scene.start({})
    const third = await scene.prepare({})
    assert.throws(() => scene.vmm.checkMemory(third), full)
    // These two VMs run already, so there is room for them.
    for (const running of [first, second]) scene.vmm.checkMemory(running)
    assert.partialDeepStrictEqual(scene.vmm.memory(), { instancesMb: 2 * vmMb, refusals: 1 })
  })

  it('admits the next start once a VM has ended, even before that VM is forgotten', async () => {
    const first = await scene.start({})
    await scene.start({})
    await scene.vmm.kill(first, 'forced')
    assert.equal(scene.vmm.memory()?.instancesMb, vmMb)
    await scene.start({})
    assert.equal(scene.vmm.memory()?.instancesMb, 2 * vmMb)
  })

  it('counts a start from the moment it is asked for, and counts it once if it is asked for twice', async () => {
    const [one, two, three] = [await scene.prepare({}), await scene.prepare({}), await scene.prepare({})]
    const results = await Promise.allSettled([one, one, two, three].map((spec) => scene.vmm.start(spec)))
    const refused = results.flatMap((result) =>
      result.status === 'rejected' ? [result.reason as Error] : [],
    )
    assert.deepEqual([results.length - refused.length, refused.length], [3, 1])
    assert.equal((refused[0] as VmmError | undefined)?.failure, full.failure)
    await scene.vmm.start(one)
    assert.equal(scene.vmm.memory()?.instancesMb, 2 * vmMb)
  })

  it('counts nothing of a start that failed', async () => {
    const spec = await scene.prepare({})
    await assert.rejects(scene.vmm.start(spec, AbortSignal.abort(new Error('not wanted'))), /not wanted/)
    assert.equal(scene.vmm.memory()?.instancesMb, 0)
  })

  it('counts nothing of a VM that sleeps, refuses its wake where others have the room, and keeps its memory', async () => {
    const sleeper = await scene.start({})
    await scene.vmm.suspend(sleeper)
    assert.equal(scene.vmm.memory()?.instancesMb, 0)
    const [other] = [await scene.start({}), await scene.start({})]
    const next = scene.follow({ ...sleeper, boot: 2, restore: true })
    await assert.rejects(scene.vmm.start(next), full)
    await scene.vmm.kill(other, 'forced')
    assert.equal((await scene.vmm.start(next)).kind, StartKind.Restore)
  })

  it('counts the VMs that an earlier object had started, once they are found', async () => {
    await scene.start({})
    await scene.start({})
    await scene.reopen()
    await scene.vmm.recover()
    await assert.rejects(scene.vmm.start(await scene.prepare({})), full)
  })
}
