import assert from 'node:assert/strict'
import { pinnedImages } from '../../../src/host/images/pinned-images.ts'
import { noScaleToZero } from '../../../src/domain/standby/scale-to-zero.ts'
import { uuid } from '../agent/machine.ts'
import { TestGateway, pass, seen } from './gateway.ts'
import { StandbyScene, boot, cold, gentle, stateful } from './standby-scene.ts'

const hour = { policy: 'on', cooldownMs: 3_600_000, stateful: false } as const

describe('a change of the configuration at the host', function () {
  this.timeout(20_000)
  let scene: StandbyScene
  beforeEach(async () => {
    scene = await StandbyScene.make()
  })
  afterEach(async () => {
    await scene.remove()
  })

  /** Puts another configuration into the API, and tells the host of it as the workflow does. */
  async function change(version: number, renew: boolean, scaleToZero = scene.hostLease.settings) {
    const spec = scene.machine.specs.get(uuid)
    assert.ok(spec !== undefined)
    const image = `new/app@sha256:${'b'.repeat(64)}`
    scene.machine.specs.set(uuid, { ...spec, image, memoryMb: 512, configVersion: version, scaleToZero })
    return await scene.live.agent.change({ instanceUuid: uuid, version, renew, scaleToZero })
  }
  const launch = () => scene.live.agent.entries.get(uuid)?.launch?.spec

  it('lets an instance sleep whose gateway holds its lease for good', async () => {
    await scene.running(noScaleToZero)
    const gateway = new TestGateway(scene.live).connect()
    const opened = await gateway.opened()
    assert.equal(opened.returnAfterMs, undefined)
    await change(1, false, cold)
    const told = await gateway.next('settings')
    assert.deepEqual([told.boot, told.returnAfterMs], [1, 500])
    gateway.giveBack()
    pass(scene.machine, scene.live, cold.cooldownMs)
    await seen('the idle period is told', () => scene.machine.events.some(({ kind }) => kind === 'idle'))
  })

  it('begins the idle period anew with the new cooldown, since the same moment', async () => {
    await scene.running(hour)
    const since = scene.hostLease.idle?.sinceMs
    await change(1, false, cold)
    assert.equal(scene.hostLease.idle?.sinceMs, since)
    pass(scene.machine, scene.live, cold.cooldownMs)
    await seen('it is told', () => scene.machine.events.some(({ kind }) => kind === 'idle'))
  })

  it('leaves a boot that runs, and what it was launched with, as they are', async () => {
    await scene.running(stateful)
    assert.deepEqual(await change(1, true), { renewed: false })
    assert.equal(launch()?.configVersion, undefined)
    assert.equal((await scene.standBy()).slept, true)
    const { started } = await scene.live.agent.start({ ...boot, boot: 2 })
    assert.deepEqual([started.kind, started.configVersion], ['restore', undefined])
  })

  it('keeps the memory of a sleeper that is not to be renewed', async () => {
    await scene.asleep(stateful)
    assert.deepEqual(await change(1, false), { renewed: false })
    const { started } = await scene.live.agent.start({ ...boot, boot: 2 })
    assert.equal(started.kind, 'restore')
  })

  it('drops the memory of a sleeper that is to be renewed, and wakes it with the new configuration', async () => {
    await scene.asleep(stateful)
    assert.deepEqual(await change(1, true), { renewed: true })
    assert.deepEqual([launch()?.memoryMb, scene.hostLease.phase], [512, 'asleep'])
    const pinned = pinnedImages(scene.live.agent.entries.values()).map(({ digest }) => digest)
    assert.deepEqual(pinned, [`sha256:${'b'.repeat(64)}`])
    const gateway = new TestGateway(scene.live).connect()
    assert.equal((await gateway.opened()).boot, 2)
    // The gateway hears of a wake before its start is in the record.
    const record = await seen('its start is recorded', () => {
      const now = scene.live.agent.entries.get(uuid)?.record
      return now?.started === undefined ? undefined : now
    })
    assert.deepEqual([record.started?.kind, record.started?.configVersion], ['boot', 1])
    assert.equal(record.imageDigest, `sha256:${'b'.repeat(64)}`)
  })

  it('renews what was kept for the wake of a sleeper without memory, also for the next agent', async () => {
    await scene.asleep(cold)
    assert.deepEqual(await change(1, true), { renewed: true })
    await scene.nextAgent()
    const { started } = await scene.live.agent.start({ ...boot, boot: 2 })
    assert.equal(started.configVersion, 1)
  })

  it('does the same when it is repeated', async () => {
    await scene.asleep(stateful)
    await change(1, true)
    assert.deepEqual(await change(1, true), { renewed: true })
    assert.equal((await scene.live.agent.start({ ...boot, boot: 2 })).started.configVersion, 1)
  })

  it('renews nothing of an instance that was stopped, or that is not here', async () => {
    await scene.asleep(cold)
    await scene.live.agent.stop({ ...boot, boot: 2, ...gentle })
    assert.deepEqual(await change(1, true), { renewed: false })
    const other = { instanceUuid: '00000000-0000-4000-8000-0000000000ff', version: 1, renew: true }
    assert.deepEqual(await scene.live.agent.change({ ...other, scaleToZero: cold }), { renewed: false })
  })

  it('is launched with by the next boot', async () => {
    await scene.running(cold)
    await change(3, false)
    await scene.live.agent.stop({ ...boot, ...gentle })
    assert.equal((await scene.live.agent.start({ ...boot, boot: 2 })).started.configVersion, 3)
  })
})
