import assert from 'node:assert/strict'
import { ExitCause } from '../../../src/domain/instance/exit-report.ts'
import { AgentMetrics } from '../../../src/host/agent/agent-metrics.ts'
import { callOffStarts, endAllVms } from '../../../src/host/agent/cut-off.ts'
import { until } from '../../support/until.ts'
import { TestGateway } from '../leases/gateway.ts'
import { boot, StandbyScene, stateful } from '../leases/standby-scene.ts'
import { otherUuid, uuid } from './machine.ts'

const refusal = 'this host has had no answer of the API for 60 s, so it runs nothing until it has one'

describe('a host whose term is over', () => {
  let scene: StandbyScene
  beforeEach(async () => {
    scene = await StandbyScene.make()
  })
  afterEach(async () => {
    await scene.remove()
  })

  it('starts nothing, and says why; the same boot starts once it has a term again', async () => {
    const live = await scene.machine.readyAgent()
    scene.machine.refusal = refusal
    await assert.rejects(live.agent.start(boot), { failure: 'BootFailed', final: false, message: refusal })
    assert.equal(scene.machine.host.starts, 0)
    assert.equal(scene.machine.network.attached.size, 0)
    scene.machine.refusal = undefined
    await live.agent.start(boot)
    assert.equal(scene.machine.host.running(uuid), 1)
  })

  it('starts nothing whose preparation had begun before', async () => {
    const live = await scene.machine.readyAgent()
    const prepare = live.ports.images.prepare.bind(live.ports.images)
    live.ports.images.prepare = async (...args) => {
      scene.machine.refusal = refusal
      return await prepare(...args)
    }
    await assert.rejects(live.agent.start(boot), { failure: 'BootFailed', message: refusal })
    assert.equal(scene.machine.host.starts, 0)
  })

  it('wakes nothing, and keeps the memory for a later wake', async () => {
    await scene.asleep(stateful)
    const { starts } = scene.machine.host
    scene.machine.refusal = refusal
    const gateway = new TestGateway(scene.live).connect()
    gateway.open()
    assert.equal((await gateway.next('refused')).reason, 'failed')
    await assert.rejects(scene.live.agent.start({ ...boot, boot: 2 }), { message: refusal })
    assert.equal(scene.machine.host.starts, starts)
    scene.machine.refusal = undefined
    const { started } = await scene.live.agent.start({ ...boot, boot: 2 })
    assert.equal(started.kind, 'restore')
  })

  it('ends all VMs for the host, so that the platform starts them again', async () => {
    const live = await scene.machine.readyAgent()
    await live.agent.start(boot)
    await live.agent.start({ ...boot, instanceUuid: otherUuid })
    await endAllVms(live.agent.entries, live.ports)
    assert.equal(scene.machine.host.running(), 0)
    await live.agent.check()
    await live.reported()
    assert.deepEqual(
      scene.machine.reports.map(({ cause }) => cause),
      [ExitCause.HostHalted, ExitCause.HostHalted],
    )
  })

  it('calls off a start that is under way, so that it brings nothing up later', async () => {
    const live = await scene.machine.readyAgent()
    const pulled = Promise.withResolvers<void>()
    const prepare = live.ports.images.prepare.bind(live.ports.images)
    live.ports.images.prepare = async (...args) => {
      await pulled.promise
      return await prepare(...args)
    }
    const starting = live.agent.start(boot)
    await until('the image is pulled', () => live.agent.entries.get(uuid)?.job !== undefined, {
      limitMs: 10_000,
    })
    callOffStarts(live.agent.entries)
    pulled.resolve()
    await assert.rejects(starting)
    assert.equal(scene.machine.host.starts, 0)
  })

  it('has a metric of the time that is left, and none without a term', async () => {
    const metrics = new AgentMetrics(new Map())
    let left: number | undefined
    metrics.showTerm(() => left)
    const shown = async () => /^roost_agent_term_seconds (.*)$/m.exec(await metrics.registry.metrics())?.[1]
    assert.equal(await shown(), undefined)
    left = 12.5
    assert.equal(await shown(), '12.5')
    left = 0
    assert.equal(await shown(), '0')
    left = undefined
    assert.equal(await shown(), undefined)
  })
})
