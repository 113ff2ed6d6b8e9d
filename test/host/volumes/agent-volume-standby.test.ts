import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { ExitCause } from '../../../src/domain/instance/exit-report.ts'
import { StartKind } from '../../../src/domain/instance/start-report.ts'
import type { ScaleToZero } from '../../../src/domain/standby/scale-to-zero.ts'
import { InstanceStore } from '../../../src/host/instance/store.ts'
import {
  beginSnapshot,
  newSnapshotDirectory,
  snapshotDirectory,
} from '../../../src/host/vmm/snapshot-files.ts'
import { pass, seen, TestGateway } from '../leases/gateway.ts'
import { otherUuid, uuid, volumeUuid } from '../agent/machine.ts'
import type { AgentOptions } from '../agent/machine.ts'
import { boot, cold, forced, gentle, StandbyScene, stateful } from '../leases/standby-scene.ts'

/** Longer than the first pause after a failed wake. */
const retryPauseMs = 60_000

describe('an instance in standby with a volume', () => {
  let scene: StandbyScene

  beforeEach(async () => {
    scene = await StandbyScene.make()
    scene.machine.attach(uuid)
  })
  afterEach(async () => {
    await scene.remove()
  })

  const holder = (): string | undefined => scene.machine.volumes.held.get(volumeUuid)
  const checks = (): number => scene.machine.volumes.checked.length

  async function asleep(scaleToZero: ScaleToZero, options: AgentOptions = {}): Promise<void> {
    await scene.asleep(scaleToZero, options)
    assert.equal(holder(), uuid)
    assert.equal(checks(), 1)
  }

  async function wakeFails(): Promise<void> {
    const gateway = new TestGateway(scene.live).connect()
    gateway.open()
    assert.equal((await gateway.next('refused')).reason, 'failed')
    await seen('it is over', () => scene.live.agent.entries.get(uuid)?.job === undefined)
  }

  const damages = (): number => scene.machine.volumeEvents.filter(({ kind }) => kind === 'damaged').length

  it('cold: keeps it, and has it checked again when it wakes, without asking the API for it', async () => {
    await asleep(cold)
    scene.machine.specs.clear()
    const { boot: woken } = await new TestGateway(scene.live).connect().opened()
    assert.equal(woken, 2)
    assert.equal(checks(), 2)
    assert.equal(scene.machine.host.find({ ...boot, boot: 2 })?.spec.volume?.at, '/data')
  })

  it('cold: keeps it over the death of its agent', async () => {
    await asleep(cold)
    await scene.nextAgent()
    assert.equal(holder(), uuid)
    await new TestGateway(scene.live).connect().opened()
    assert.equal(checks(), 2)
  })

  it('stateful: its memory continues with the volume, and nobody checks that in between', async () => {
    await asleep(stateful)
    const { memoryBoot: memory } = await new TestGateway(scene.live).connect().opened()
    assert.equal(memory, 1)
    assert.equal(checks(), 1)
    assert.equal(holder(), uuid)
  })

  for (const [why, vmm] of [
    ['can not go on', { failRestore: 1 }],
    ['does not fit any more', { unfitSnapshots: true }],
  ] as const) {
    it(`stateful: a memory that ${why} is followed by a check, and then by a boot`, async () => {
      await asleep(stateful, { vmm })
      const { boot: woken, memoryBoot: memory } = await new TestGateway(scene.live).connect().opened()
      assert.deepEqual([woken, memory], [2, 2])
      assert.equal(checks(), 2)
      assert.equal(scene.machine.host.find({ ...boot, boot: 2 })?.started?.kind, StartKind.Boot)
    })
  }

  it('stateful: damage that only such a check finds is reported; the instance stays asleep, its volume free', async () => {
    await asleep(stateful, { vmm: { unfitSnapshots: true } })
    scene.machine.volumes.damaged.add(volumeUuid)
    await wakeFails()
    assert.equal(damages(), 1)
    assert.equal(scene.machine.host.running(), 0)
    assert.equal(holder(), undefined)
    await scene.live.agent.volumes.repair(volumeUuid, new AbortController().signal)
    pass(scene.machine, scene.live, retryPauseMs)
    assert.equal((await new TestGateway(scene.live).connect().opened()).boot, 2)
    assert.equal(holder(), uuid)
  })

  it('cold: damage is reported at the wake, which can be tried again once the volume is repaired', async () => {
    await asleep(cold)
    scene.machine.volumes.damaged.add(volumeUuid)
    await wakeFails()
    assert.equal(damages(), 1)
    await scene.live.agent.volumes.repair(volumeUuid, new AbortController().signal)
    pass(scene.machine, scene.live, retryPauseMs)
    assert.equal((await new TestGateway(scene.live).connect().opened()).boot, 2)
  })

  it('a wake that fails for another reason keeps it', async () => {
    await asleep(cold, { vmm: { failStart: 2 } })
    await wakeFails()
    assert.equal(holder(), uuid)
    assert.equal(damages(), 0)
    await scene.live.agent.check()
    assert.equal(holder(), uuid)
  })

  for (const [kind, policy] of [
    ['cold', cold],
    ['stateful', stateful],
  ] as const) {
    it(`${kind}: a stop frees it, after the memory is gone`, async () => {
      await asleep(policy)
      await scene.live.agent.stop({ ...boot, boot: 2, ...gentle })
      assert.equal(holder(), undefined)
      assert.equal(existsSync(join(scene.live.ports.store.directory(uuid), 'snapshot')), false)
    })

    it(`${kind}: a removal frees it`, async () => {
      await asleep(policy)
      await scene.live.agent.remove({ instanceUuid: uuid })
      assert.equal(holder(), undefined)
    })

    it(`${kind}: a start for a later boot begins with a check`, async () => {
      await asleep(policy)
      await scene.live.agent.start({ ...boot, boot: 3 })
      assert.equal(checks(), 2)
      assert.equal(holder(), uuid)
    })

    it(`${kind}: nobody else gets it meanwhile`, async () => {
      await asleep(policy)
      scene.machine.attach(otherUuid, { made: true })
      const start = scene.live.agent.start({ instanceUuid: otherUuid, boot: 1 })
      await seen('it was refused', () => scene.machine.volumes.refused > 0)
      assert.equal(holder(), uuid)
      await scene.live.agent.stop({ ...boot, boot: 2, ...forced })
      await start
      assert.equal(holder(), otherUuid)
    })
  }

  it('stateful: what sleeps has its volume, also where the hold was lost', async () => {
    await asleep(stateful)
    scene.machine.volumes.held.clear()
    await scene.nextAgent()
    assert.equal(holder(), uuid)
    assert.equal(checks(), 1)
  })

  it('stateful: an instance that ended on its way to standby boots, even if there is a snapshot', async () => {
    await scene.running(stateful)
    const { nowMs } = scene.live.ports
    const store = new InstanceStore(scene.machine.directory)
    const record = scene.live.agent.entries.get(uuid)?.record
    assert.ok(record !== undefined)
    const standby = { boot: 1, permit: 2, stateful: true, graceMs: 0, atMs: nowMs() }
    const exit = { boot: 1, cause: ExitCause.VmmLost, applicationStarted: true, atMs: nowMs() }
    scene.live.kill()
    scene.machine.host.lose(boot)
    await store.save({ ...record, exit, reported: true, standby: { ...standby, exit } })
    const directory = store.directory(uuid)
    await beginSnapshot(directory, { schemaVersion: 1, uuid: otherUuid, boot: 1, snapshotKey: 'fake' })
    await rename(newSnapshotDirectory(directory), snapshotDirectory(directory))
    await scene.nextAgent()
    await new TestGateway(scene.live).connect().opened()
    assert.equal(scene.machine.host.find({ ...boot, boot: 2 })?.started?.kind, StartKind.Boot)
    // The scene takes this snapshot for a memory that uses the volume. It belongs to no boot, so the check
    // was right.
    assert.deepEqual(scene.machine.broken.splice(0), ['checked under a memory'])
  })

  it('that never ran has its volume made by its first wake; a volume that is lost later is not made again', async () => {
    scene.machine.scalesToZero(cold)
    await scene.nextAgent()
    const order = { ...boot, boot: 0, epoch: 0, permit: 1, stateful: false, graceMs: 0 }
    assert.equal((await scene.live.agent.standBy(order)).slept, true)
    assert.equal(holder(), undefined)
    await new TestGateway(scene.live).connect().opened()
    assert.equal(holder(), uuid)
    const copy = await scene.live.ports.store.loadLaunch(uuid)
    assert.equal(copy?.spec.volume?.made, true)
  })

  it('that was made by its first start counts as made from then on', async () => {
    await scene.running(cold)
    const copy = await scene.live.ports.store.loadLaunch(uuid)
    assert.equal(copy?.spec.volume?.made, true)
  })
})
