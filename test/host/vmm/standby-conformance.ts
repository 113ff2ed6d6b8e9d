import assert from 'node:assert/strict'
import { cp } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { ExitCause } from '../../../src/domain/instance/exit-report.ts'
import { StartKind } from '../../../src/domain/instance/start-report.ts'
import { readSnapshot, snapshotDirectory } from '../../../src/host/vmm/snapshot-files.ts'
import type { VmName, VmSpec } from '../../../src/host/vmm/vmm.ts'
import { exitOf, VmmScene } from './scene.ts'
import type { VmmWorld } from './scene.ts'

/** What every VMM must do about standby. */
export function standbyConformance(makeWorld: () => Promise<VmmWorld>): void {
  const scene = new VmmScene(makeWorld)

  /** Starts the next boot, from the snapshot if there is one that fits. */
  async function wake(spec: VmSpec): Promise<{ kind: StartKind; next: VmSpec }> {
    const next = scene.follow({ ...spec, boot: spec.boot + 1, restore: true })
    const report = await scene.vmm.start(next)
    assert.equal(report.boot, next.boot)
    return { kind: report.kind, next }
  }

  it('a VM that is suspended becomes a snapshot: nothing else is kept of it, and there is no exit', async () => {
    const exits: VmName[] = []
    scene.vmm.onExit((name) => exits.push(name))
    const spec = await scene.start({})
    assert.equal(await scene.vmm.askToSleep(spec), 'ready')
    const { snapshotUuid } = await scene.vmm.suspend(spec)
    assert.match(snapshotUuid, /^[0-9a-f-]{36}$/)
    assert.equal(await scene.vmm.status(spec), undefined)
    assert.equal(await scene.vmm.usage(spec), undefined)
    await scene.reopen()
    const found = (await scene.vmm.recover()).filter((status) => status.instanceUuid === spec.instanceUuid)
    assert.deepEqual([found, exits], [[], []])
  })

  it('counts the CPU time of a restored VM apart from the time before its snapshot', async () => {
    const spec = await scene.start({})
    await scene.vmm.suspend(spec)
    assert.equal(scene.vmm.cpuTimeMs(spec), undefined)
    const { next } = await wake(spec)
    assert.ok(scene.vmm.cpuTimeMs(next) !== undefined)
  })

  it('goes on from its snapshot, and ends as it would have', async () => {
    const spec = await scene.start({ exitAfterMs: 2_000, exitCode: 9 })
    await scene.vmm.suspend(spec)
    const { kind, next } = await wake(spec)
    assert.equal(kind, StartKind.Restore)
    assert.partialDeepStrictEqual(await exitOf(scene.vmm, next), {
      boot: 2,
      cause: ExitCause.Guest,
      exitCode: 9,
      applicationStarted: true,
    })
  })

  it('a snapshot is used once, and a start without one is a boot', async () => {
    const spec = await scene.start({})
    await scene.vmm.suspend(spec)
    const first = await wake(spec)
    assert.equal(first.kind, StartKind.Restore)
    await scene.vmm.kill(first.next, 'forced')
    await scene.vmm.forget(first.next)
    assert.notEqual((await wake(first.next)).kind, StartKind.Restore)
  })

  it('tells whether a snapshot of another machine fits it, and what differs', async () => {
    const spec = await scene.start({})
    await scene.vmm.suspend(spec)
    const { snapshotKey } = (await readSnapshot(spec.directory)) ?? { snapshotKey: '' }
    const { memoryMb, vcpus, image, attachment } = spec
    const shape = { memoryMb, vcpus, image, nic: { ip: attachment.ip, mac: attachment.mac } }
    const volume = { uuid: '00000000-0000-4000-8000-00000000000f', at: '/data', readonly: false }
    const { machine } = scene.vmm.snapshots
    assert.equal(scene.vmm.snapshots.misfitOf({ snapshotKey, machine }, shape), undefined)
    const other = { snapshotKey: 'another', machine: { ...machine, processor: 'Another' } }
    assert.match(scene.vmm.snapshots.misfitOf(other, shape) ?? '', /processor is .*another/i)
    assert.ok(scene.vmm.snapshots.misfitOf({ snapshotKey: 'another', machine }, shape) !== undefined)
    assert.ok(scene.vmm.snapshots.misfitOf({ snapshotKey, machine }, { ...shape, volume }) !== undefined)
    assert.equal((await wake(spec)).kind, StartKind.Restore)
  })

  it('a snapshot that is dropped is gone, also for a VM that sleeps for a second time', async () => {
    const spec = await scene.start({})
    await scene.vmm.suspend(spec)
    const { next } = await wake(spec)
    await scene.vmm.suspend(next)
    await scene.vmm.dropSnapshot(spec.directory)
    await scene.vmm.dropSnapshot(spec.directory)
    assert.notEqual((await wake(next)).kind, StartKind.Restore)
  })

  it('a snapshot that nobody can read means a boot', async () => {
    const spec = await scene.start({})
    await scene.vmm.suspend(spec)
    await cp('/dev/null', `${snapshotDirectory(spec.directory)}/snapshot.json`, { force: true })
    assert.notEqual((await wake(spec)).kind, StartKind.Restore)
  })

  it('a guest that speaks against standby is heard, and every later agent knows of it', async () => {
    const told = Promise.withResolvers<readonly [VmName, boolean]>()
    scene.vmm.onDisabled((name, disabled) => told.resolve([name, disabled]))
    const spec = await scene.start({ disabledAfterMs: 0 })
    assert.deepEqual(await told.promise, [{ instanceUuid: spec.instanceUuid, boot: 1 }, true])
    assert.equal((await scene.vmm.status(spec))?.disabled, true)
    assert.equal(await scene.vmm.askToSleep(spec), 'disabled')
    await scene.reopen()
    const heard = Promise.withResolvers<unknown>()
    scene.vmm.onDisabled((_, disabled) => heard.resolve(disabled))
    const found = (await scene.vmm.recover()).find((status) => status.instanceUuid === spec.instanceUuid)
    assert.equal(found?.disabled ?? (await heard.promise), true)
  })

  it('after a guest agreed to standby, a word of its application against it waits until it is awake', async () => {
    const told: boolean[] = []
    const heard = Promise.withResolvers<undefined>()
    scene.vmm.onDisabled((_, disabled) => {
      told.push(disabled)
      heard.resolve(undefined)
    })
    const spec = await scene.start({ disabledAfterMs: 2_000 })
    assert.equal(await scene.vmm.askToSleep(spec), 'ready')
    await delay(3_000)
    assert.deepEqual([told, (await scene.vmm.status(spec))?.disabled ?? false], [[], false])
    await scene.vmm.stayAwake(spec)
    await heard.promise
    assert.deepEqual(told, [true])
  })

  it('a word against standby that waits is not lost in a snapshot', async () => {
    const spec = await scene.start({ disabledAfterMs: 2_000 })
    assert.equal(await scene.vmm.askToSleep(spec), 'ready')
    await scene.vmm.suspend(spec)
    const heard = Promise.withResolvers<boolean>()
    scene.vmm.onDisabled((_, disabled) => heard.resolve(disabled))
    assert.equal((await wake(spec)).kind, StartKind.Restore)
    assert.equal(await heard.promise, true)
  })

  it('a VM that does not exist or has ended can not be suspended', async () => {
    const nobody = { instanceUuid: '00000000-0000-4000-8000-ffffffffffff', boot: 1 }
    assert.equal(await scene.vmm.askToSleep(nobody), 'disabled')
    await scene.vmm.stayAwake(nobody)
    await assert.rejects(scene.vmm.suspend(nobody), { name: 'VmmError' })
    const spec = await scene.start({})
    await scene.vmm.kill(spec, 'forced')
    await assert.rejects(scene.vmm.suspend(spec), { name: 'VmmError' })
    assert.equal((await scene.vmm.status(spec))?.exit?.cause, ExitCause.Forced)
  })
}
