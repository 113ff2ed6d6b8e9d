import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { NodeInstance } from '../../../src/domain/host/api-protocol.ts'
import { ServiceUsage } from '../../../src/host/instance/service-usage.ts'
import { UsageHistory } from '../../../src/host/instance/usage-history.ts'
import { until } from '../../support/until.ts'
import { TestGateway } from '../leases/gateway.ts'
import { uuid } from '../agent/machine.ts'
import { cold, StandbyScene } from '../leases/standby-scene.ts'

/** Later than the clock of the scene, which must not go back. */
const beginMs = 1_100_000
const serviceUuid = '7d0d4e5e-6b3c-4c8e-9f7b-2a1c3d4e5f60'

describe('the recorded usage of an instance', function () {
  this.timeout(20_000)
  let scene: StandbyScene
  let history: UsageHistory
  let ofServices: ServiceUsage
  let listed: readonly NodeInstance[]
  beforeEach(async () => {
    scene = await StandbyScene.make()
    await scene.running(cold)
    listed = [{ uuid, state: 'running', serviceUuid }]
    ofServices = newServiceUsage()
    history = newHistory()
    await sampleAt(0)
  })
  afterEach(async () => {
    await scene.remove()
  })

  const newServiceUsage = () =>
    new ServiceUsage({
      agentDirectory: scene.machine.directory,
      nowMs: scene.live.ports.nowMs,
      list: async () => await Promise.resolve(listed),
    })
  const newHistory = () => new UsageHistory(scene.live.ports, scene.live.agent.entries, ofServices)
  const sampleAt = async (ms: number, of = history) => {
    scene.machine.nowMs = beginMs + ms
    await of.sampleAll()
  }
  const times = async (step: '5s' | '5m' = '5s') =>
    (await history.read(uuid, step)).map(({ atMs }) => atMs - beginMs)

  it('has a step for each time in which it ran, in both lengths', async () => {
    scene.machine.host.setCpu({ instanceUuid: uuid, boot: 1 }, 1_000_000)
    for (const ms of [5_000, 10_000, 15_000]) await sampleAt(ms)
    assert.deepEqual(await times(), [0, 5_000, 10_000])
    const [long, ...more] = await history.read(uuid, '5m')
    assert.equal(more.length, 0)
    assert.equal(long?.seenMs, 15_000)
    assert.ok(long.cpuTimeMs > 0 && long.rssBytes > 0)
  })

  it('has a gap for a sleep, which costs no write, and then the wake', async () => {
    await sampleAt(5_000)
    assert.ok((await scene.standBy()).slept)
    await sampleAt(10_000)
    const path = join(scene.live.ports.store.directory(uuid), 'usage.ring')
    const before = await stat(path)
    for (const ms of [15_000, 20_000, 25_000]) await sampleAt(ms)
    assert.equal((await stat(path)).mtimeMs, before.mtimeMs)
    await new TestGateway(scene.live).connect().opened()
    const isUp = () => scene.live.agent.entries.get(uuid)?.record?.started !== undefined
    await until('the wake is recorded', isUp, { limitMs: 10_000 })
    await sampleAt(30_000)
    assert.deepEqual(await times(), [0, 5_000, 25_000])
    const wakes = (await history.read(uuid, '5s')).map((step) => step.wakes)
    assert.deepEqual(wakes, [0, 0, 1])
  })

  it('goes on with the next agent, and has a gap for the time without one', async () => {
    await sampleAt(5_000)
    const next = newHistory()
    await sampleAt(60_000, next)
    await sampleAt(65_000, next)
    assert.deepEqual(await times(), [0, 60_000])
    assert.equal((await history.read(uuid, '5m'))[0]?.seenMs, 10_000)
  })

  it('is nothing before the first start, and ends with the instance', async () => {
    assert.deepEqual(await history.read(uuid, '5s'), [])
    await sampleAt(5_000)
    await scene.live.agent.remove({ instanceUuid: uuid })
    await sampleAt(10_000)
    assert.deepEqual(await history.read(uuid, '5s'), [])
    assert.ok(!existsSync(scene.live.ports.store.directory(uuid)))
  })
  describe('is that of its service too', () => {
    const ofService = async () =>
      (await ofServices.read(serviceUuid, '5s')).map(({ atMs, seenMs }) => [atMs - beginMs, seenMs])

    it('and stays when the instance is gone', async () => {
      ofServices.heard(listed)
      await sampleAt(5_000)
      await sampleAt(10_000)
      await scene.live.agent.remove({ instanceUuid: uuid })
      await sampleAt(15_000)
      assert.deepEqual(await ofService(), [
        [0, 5_000],
        [5_000, 5_000],
      ])
      assert.deepEqual(await ofServices.read(uuid, '5s'), [])
    })

    it('from the moment on at which the API has told its service', async () => {
      await sampleAt(5_000)
      assert.deepEqual(await ofService(), [])
      await sampleAt(10_000)
      assert.deepEqual(await ofService(), [[5_000, 5_000]])
      listed = [{ uuid, state: 'running', serviceUuid: null }]
      ofServices.heard(listed)
      await sampleAt(15_000)
      assert.deepEqual(await ofService(), [[5_000, 5_000]])
    })

    it('until no instance of the service was here for an hour', async () => {
      ofServices.heard(listed)
      await sampleAt(5_000)
      const path = join(scene.machine.directory, 'service-usage', `${serviceUuid}.ring`)
      const { mtimeMs } = await stat(path)
      const hasPassed = (ms: number) => {
        scene.machine.nowMs = mtimeMs + ms
      }
      hasPassed(3_700_000)
      await ofServices.sweep()
      assert.ok(existsSync(path), 'an instance of it is here')
      const next = newServiceUsage()
      await next.sweep()
      assert.ok(existsSync(path), 'nobody knows yet what is here')
      next.heard([])
      hasPassed(3_500_000)
      await next.sweep()
      assert.ok(existsSync(path), 'the hour is not over')
      hasPassed(3_700_000)
      await next.sweep()
      assert.ok(!existsSync(path))
    })
  })
})
