import assert from 'node:assert/strict'
import { uuid } from '../agent/machine.ts'
import { seen, TestGateway } from './gateway.ts'
import { gentle, StandbyScene, stateful } from './standby-scene.ts'

const permitsBoot = { instanceUuid: uuid, boot: 2 }

describe('a start that waits until the instance has fallen asleep', () => {
  let scene: StandbyScene
  let sleep: Promise<unknown>
  let start: Promise<unknown>
  beforeEach(async () => {
    scene = await StandbyScene.make()
    await scene.running(stateful, { vmm: { suspendMs: 20 } })
    sleep = scene.standBy()
    await seen('the instance goes to sleep', () => scene.live.agent.entries.get(uuid)?.sleep !== undefined)
    start = scene.live.agent.start(permitsBoot)
    start.catch(() => undefined)
  })
  afterEach(async () => {
    await scene.remove()
  })

  it('then wakes it, once for all callers', async () => {
    await Promise.all([sleep, start, scene.live.agent.start(permitsBoot)])
    assert.deepEqual([scene.machine.host.running(), scene.machine.host.starts], [1, 2])
  })

  it('is ended by a stop', async () => {
    await scene.live.agent.stop({ ...permitsBoot, ...gentle })
    await assert.rejects(start)
    await sleep
    assert.equal(scene.machine.host.running(), 0)
  })

  it('ends when its caller gives it up', async () => {
    await scene.live.agent.abandon(permitsBoot)
    await assert.rejects(start)
    await sleep
    assert.equal(scene.machine.host.running(), 0)
  })

  it('does not keep traffic from waking the instance after it was given up', async () => {
    const gateway = new TestGateway(scene.live).connect()
    gateway.open()
    await scene.live.agent.abandon(permitsBoot)
    await Promise.all([sleep, gateway.next('opened')])
    assert.equal(scene.machine.host.running(), 1)
  })
})
