import assert from 'node:assert/strict'
import { ExitCause } from '../../../src/domain/instance/exit-report.ts'
import { gatewaysToldMs } from '../../../src/domain/standby/lease-protocol.ts'
import { UsageMeter } from '../../../src/host/instance/usage-meter.ts'
import { pass, seen, settleIn, TestGateway } from '../leases/gateway.ts'
import { uuid } from './machine.ts'
import { boot, cold, forced, gentle, StandbyScene } from '../leases/standby-scene.ts'

describe('what an agent hears and tells of traffic', function () {
  this.timeout(20_000)
  let scene: StandbyScene
  beforeEach(async () => {
    scene = await StandbyScene.make()
  })
  afterEach(async () => {
    await scene.remove()
  })

  describe('draining', () => {
    it('lasts until every gateway has nothing connected any more', async () => {
      await scene.running(cold)
      const [one, two] = [
        new TestGateway(scene.live, 'one').connect(),
        new TestGateway(scene.live, 'two').connect(),
      ]
      await one.opened()
      await two.opened()
      two.giveBack()
      let over = false
      const drain = scene.live.agent.drain(boot).then(() => {
        over = true
      })
      await Promise.all([one.next('drain'), two.next('drain')])
      one.drained(1)
      one.open()
      assert.equal((await one.next('refused')).reason, 'draining')
      assert.equal(over, false)
      two.drained(1)
      await drain
    })

    it('is called off by its cancellation', async () => {
      await scene.running(cold)
      const gateway = new TestGateway(scene.live).connect()
      await gateway.opened()
      void scene.live.agent.drain(boot)
      await gateway.next('drain')
      scene.live.agent.undrain(boot)
      await gateway.next('undrain')
      assert.equal((await gateway.opened()).boot, 1)
    })

    it('is over at once for an instance that does not run', async () => {
      await scene.asleep(cold)
      await scene.live.agent.drain(boot)
      await scene.live.agent.drain({ instanceUuid: uuid, boot: 9 })
    })

    it('does not wait for a gateway that has been lost for long', async () => {
      await scene.running(cold)
      const gateway = new TestGateway(scene.live).connect()
      await gateway.opened()
      const drain = scene.live.agent.drain(boot)
      gateway.lose(scene.machine)
      settleIn(scene.machine, scene.live)
      await drain
    })
  })

  describe('by a new agent', () => {
    const held = [{ boot: 1, epoch: 1 }]

    async function takenOver(): Promise<void> {
      await scene.running(cold)
      await scene.nextAgent()
    }

    it('a drain waits for what a gateway has in flight that connects again', async () => {
      await takenOver()
      let over = false
      const drain = scene.live.agent.drain(boot).then(() => {
        over = true
      })
      const gateway = new TestGateway(scene.live).connect(held)
      await gateway.next('drain')
      pass(scene.machine, scene.live, gatewaysToldMs)
      await new Promise((resolve) => setImmediate(resolve))
      assert.equal(over, false)
      gateway.drained(1)
      await drain
    })

    it('a stop waits until the gateways had time to connect again, and hear of it', async () => {
      await takenOver()
      const stop = scene.live.agent.stop({ ...boot, ...gentle })
      const gateway = new TestGateway(scene.live).connect(held)
      await gateway.next('close')
      const ended = await scene.live.agent.entries.get(uuid)?.ended(gatewaysToldMs / 5)
      assert.equal(ended, false)
      assert.equal((await stop).exit?.signal, 15)
    })

    it('a forced stop waits for nobody, and ends that wait of another stop', async () => {
      await takenOver()
      const stop = scene.live.agent.stop({ ...boot, ...gentle })
      assert.equal((await scene.live.agent.stop({ ...boot, ...forced })).exit?.cause, ExitCause.Forced)
      assert.equal((await stop).exit?.cause, ExitCause.Forced)
    })
  })

  describe('telling its workflow', () => {
    it('an idle period is told when it has lasted for the cooldown, and again until something follows', async () => {
      await scene.running(cold)
      const idle = () => scene.machine.events.filter(({ kind }) => kind === 'idle')
      pass(scene.machine, scene.live, cold.cooldownMs)
      await seen('it is told', () => idle().length === 1)
      pass(scene.machine, scene.live, 15_000)
      await seen('it is told again', () => idle().length === 2)
      assert.deepEqual(idle()[0], idle()[1])
    })

    it('the guest’s word against standby is told at least once, and its end begins a new idle period', async () => {
      await scene.running(cold)
      scene.machine.host.setDisabled(boot, true)
      await seen('it is told', () =>
        scene.machine.events.some((event) => event.kind === 'disabled' && event.disabled),
      )
      assert.equal(scene.live.agent.leases.hostLease(uuid)?.idleSinceMs, undefined)
      scene.machine.nowMs += 500
      scene.machine.host.setDisabled(boot, false)
      await seen('its end is told', () =>
        scene.machine.events.some((event) => event.kind === 'disabled' && !event.disabled),
      )
      assert.equal(scene.hostLease.idle?.sinceMs, scene.machine.nowMs)
    })
  })

  it('counts what gateways report, over boots and agents', async () => {
    await scene.running(cold)
    const gateway = new TestGateway(scene.live).connect()
    await gateway.opened()
    const load = { instance: uuid, connections: 1, requests: 2, queued: 3, inFlight: 3, handledMore: 4 }
    scene.live.agent.leases.noteLoads('gateway-1', [load])
    scene.live.agent.leases.noteLoads('gateway-2', [{ ...load, handledMore: 1 }])
    const meter = new UsageMeter(scene.live.ports, scene.live.agent.entries)
    const now = (await meter.usageOf([uuid]))[uuid]
    assert.deepEqual([now?.connections, now?.requests, now?.queued, now?.handled], [2, 4, 6, 5])
    await meter.sampleAll()
    assert.equal((await meter.usageOf([uuid]))[uuid]?.handled, 5)
    await scene.live.agent.stop({ ...boot, ...forced })
    await scene.nextAgent()
    await scene.live.agent.start({ instanceUuid: uuid, boot: 2 })
    const later = (await new UsageMeter(scene.live.ports, scene.live.agent.entries).usageOf([uuid]))[uuid]
    assert.deepEqual([later?.connections, later?.handled], [0, 5])
  })
})
