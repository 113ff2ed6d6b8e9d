import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { UsageHistory } from '../../../src/host/instance/usage-history.ts'
import { until } from '../../support/until.ts'
import { TestGateway } from '../leases/gateway.ts'
import { uuid } from '../agent/machine.ts'
import { cold, StandbyScene } from '../leases/standby-scene.ts'

/** Later than the clock of the scene, which must not go back. */
const beginMs = 1_100_000

describe('the recorded usage of an instance', function () {
  this.timeout(20_000)
  let scene: StandbyScene
  let history: UsageHistory
  beforeEach(async () => {
    scene = await StandbyScene.make()
    await scene.running(cold)
    history = newHistory()
    await sampleAt(0)
  })
  afterEach(async () => {
    await scene.remove()
  })

  const newHistory = () => new UsageHistory(scene.live.ports, scene.live.agent.entries)
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
})
