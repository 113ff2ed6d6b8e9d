import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { AgentMetrics } from '../../../src/host/agent/agent-metrics.ts'
import { pass, seen, settleIn, TestGateway } from '../leases/gateway.ts'
import { uuid } from '../agent/machine.ts'
import { boot, cold, StandbyScene } from '../leases/standby-scene.ts'

describe('what an agent reports of an instance that changes its mind all the time', function () {
  this.timeout(30_000)
  let scene: StandbyScene
  beforeEach(async () => {
    scene = await StandbyScene.make()
  })
  afterEach(async () => {
    await scene.remove()
  })

  it('is a few of its changes a second, and always the last one', async () => {
    await scene.running(cold)
    await scene.live.reported()
    const whims = () => scene.machine.events.filter(({ kind }) => kind === 'disabled' || kind === 'idle')
    const before = whims().length
    const beganAtMs = performance.now()
    for (let count = 1; count <= 301; count += 1) {
      scene.machine.host.setDisabled(boot, count % 2 === 1)
      for (let turns = 0; turns < 10; turns += 1) await turn()
    }
    const seconds = Math.ceil((performance.now() - beganAtMs) / 1_000)
    assert.ok(whims().length - before <= 8 + seconds, `${whims().length - before} in ${seconds} s`)
    await seen('the last word is told', () => {
      const last = scene.machine.events.findLast(({ kind }) => kind === 'disabled')
      return last?.kind === 'disabled' && last.disabled
    })
    await scene.live.reported()
  })

  it('has no idle period that was too short for standby', async () => {
    await scene.running(cold)
    const gateway = new TestGateway(scene.live).connect()
    const idles = () => scene.machine.events.filter(({ kind }) => kind === 'idle')
    for (let times = 0; times < 5; times += 1) {
      await gateway.opened()
      gateway.giveBack()
      pass(scene.machine, scene.live, cold.cooldownMs - 1)
      await scene.live.reported()
    }
    assert.deepEqual(idles(), [])
    pass(scene.machine, scene.live, 1)
    await scene.live.reported()
    assert.equal(idles().length, 1)
  })

  it('has no more idle periods than its user’s share, and reads say why the instance is awake', async () => {
    await scene.running(cold, { sleepsPerMinute: 1 })
    settleIn(scene.machine, scene.live)
    const idles = () => scene.machine.events.filter(({ kind }) => kind === 'idle')
    const hostLease = () => scene.live.agent.leases.hostLease(uuid)
    const gateway = new TestGateway(scene.live).connect()
    await seen('the first idle period is told', () => idles().length === 1)
    assert.equal(hostLease()?.heldBack, undefined)
    await gateway.opened()
    gateway.giveBack()
    pass(scene.machine, scene.live, cold.cooldownMs)
    await seen('the second is held back', () => hostLease()?.heldBack === true)
    assert.equal(idles().length, 1)
    const metrics = await new AgentMetrics(scene.live.agent.entries).registry.metrics()
    assert.match(metrics, /^roost_agent_held_back_instances 1$/m)
    await gateway.opened()
    assert.equal(hostLease()?.heldBack, undefined)
  })
})
