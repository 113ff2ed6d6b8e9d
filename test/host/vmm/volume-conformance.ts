import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { ExitCause } from '../../../src/domain/instance/exit-report.ts'
import { StartKind } from '../../../src/domain/instance/start-report.ts'
import type { Vmm, VmName, VmSpec } from '../../../src/host/vmm/vmm.ts'
import { exitOf, VmmScene } from './scene.ts'
import type { VmmWorld } from './scene.ts'

/** What every VMM must do with volumes. */
export function volumeConformance(makeWorld: () => Promise<VmmWorld>): void {
  const scene = new VmmScene(makeWorld)

  async function suspended(): Promise<VmSpec> {
    const spec = await scene.start({ volume: 'usable' })
    assert.equal(await scene.vmm.askToSleep(spec), 'ready')
    await scene.vmm.suspend(spec)
    return scene.follow({ ...spec, boot: 2, restore: true })
  }

  it('a VM with a volume starts, and ends as any other', async () => {
    const spec = await scene.start({ volume: 'usable', exitAfterMs: 50, exitCode: 3 })
    assert.partialDeepStrictEqual(await exitOf(scene.vmm, spec), {
      cause: ExitCause.Guest,
      exitCode: 3,
      applicationStarted: true,
    })
  })

  it('a volume that can not be used fails the start, and there is no VM', async () => {
    const spec = await scene.prepare({ volume: 'unusable' })
    await assert.rejects(scene.vmm.start(spec), { name: 'VmmError', failure: 'VolumeUnusable' })
    assert.equal(await scene.vmm.status(spec), undefined)
    const next = await scene.reopen()
    const found = (await next.recover()).filter((status) => status.instanceUuid === spec.instanceUuid)
    assert.deepEqual(found, [])
  })

  it('a VM that waits for room on its host says so to every agent, and goes on once there is room', async () => {
    const begun = stallOf(scene.vmm, true)
    const spec = await scene.start({ volume: 'scarce' })
    assert.deepEqual(await begun, { instanceUuid: spec.instanceUuid, boot: 1 })
    assert.equal((await scene.vmm.status(spec))?.stalled, true)
    const next = await scene.reopen()
    const heard = stallOf(next, true)
    const found = (await next.recover()).find((status) => status.instanceUuid === spec.instanceUuid)
    if (found?.stalled !== true) await heard
    assert.equal((await next.status(spec))?.stalled, true)
    const ended = stallOf(next, false)
    await scene.world.makeRoom(spec)
    await ended
    assert.partialDeepStrictEqual({ stalled: false, ...(await next.status(spec)) }, { stalled: false })
  })

  it('a VM that waits for room can be killed, and waits no more', async () => {
    const begun = stallOf(scene.vmm, true)
    const spec = await scene.start({ volume: 'scarce' })
    await begun
    await scene.vmm.kill(spec, 'forced')
    const status = await scene.vmm.status(spec)
    assert.deepEqual([status?.exit?.cause, status?.stalled], [ExitCause.Forced, undefined])
  })

  it('a VM sleeps and wakes with its volume', async () => {
    const next = await suspended()
    assert.equal((await scene.vmm.start(next)).kind, StartKind.Restore)
  })

  it('a VM does not continue from its snapshot with another volume, nor with other rights to it', async () => {
    const other = await suspended()
    assert.ok(other.volume !== undefined)
    const exchanged = { ...other, volume: { ...other.volume, uuid: randomUUID() } }
    assert.notEqual((await scene.vmm.start(exchanged)).kind, StartKind.Restore)
    const restricted = await suspended()
    assert.ok(restricted.volume !== undefined)
    const readonly = { ...restricted, volume: { ...restricted.volume, readonly: true } }
    assert.notEqual((await scene.vmm.start(readonly)).kind, StartKind.Restore)
  })
}

async function stallOf(vmm: Vmm, awaited: boolean): Promise<VmName> {
  return await new Promise((resolve) => {
    vmm.onStalled((name, stalled) => {
      if (stalled === awaited) resolve(name)
    })
  })
}
