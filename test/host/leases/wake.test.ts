import assert from 'node:assert/strict'
import { StandByRefusal } from '../../../src/domain/instance/host-work.ts'
import { StartKind } from '../../../src/domain/instance/start-report.ts'
import type { FakeNetwork } from '../../../src/host/fakes/fake-network.ts'
import { pass, seen, settleIn, TestGateway } from './gateway.ts'
import { Machine, uuid } from '../agent/machine.ts'
import { cold, StandbyScene, stateful } from './standby-scene.ts'

describe('a sleeping instance of an agent', function () {
  this.timeout(20_000)
  let scene: StandbyScene
  beforeEach(async () => {
    scene = await StandbyScene.make()
  })
  afterEach(async () => {
    await scene.remove()
  })

  describe('waking', () => {
    it('by traffic: the permit’s boot starts, and the workflow is told afterwards', async () => {
      await scene.asleep(cold)
      const opened = await new TestGateway(scene.live).connect().opened()
      assert.deepEqual([opened.boot, opened.memoryBoot, opened.woken?.kind], [2, 2, StartKind.Boot])
      assert.deepEqual(opened.reach, { 8080: { host: '10.64.0.2', port: 8080 } })
      assert.deepEqual([opened.returnAfterMs, opened.quietConnectionsSleep], [500, false])
      await scene.live.reported()
      assert.deepEqual(
        scene.machine.events.filter(({ kind }) => kind !== 'idle').map(({ kind }) => kind),
        ['waking', 'started'],
      )
      assert.equal(scene.machine.starts[0]?.boot, 2)
    })

    it('shows in reads from the request on, and with its start before the gateway has its answer', async () => {
      await scene.asleep(cold, { vmm: { bootMs: 20 } })
      const awake = () => scene.live.agent.leases.awake([uuid, 'another'])
      assert.deepEqual(awake(), {})
      const gateway = new TestGateway(scene.live).connect()
      gateway.open()
      assert.deepEqual(awake(), { [uuid]: { boot: 2, state: 'starting' } })
      await gateway.next('opened')
      const { state, boot, started } = awake()[uuid]!
      assert.deepEqual([state, boot, started?.boot, started?.kind], ['running', 2, 2, StartKind.Boot])
      gateway.giveBack()
      assert.equal((await scene.standBy()).slept, true)
      assert.deepEqual(awake(), {})
    })

    it('stateful: memory and connections go on', async () => {
      await scene.running(stateful)
      const gateway = new TestGateway(scene.live).connect()
      const first = await gateway.opened()
      gateway.giveBack()
      assert.equal((await scene.standBy()).slept, true)
      const second = await gateway.opened()
      assert.deepEqual(
        [second.boot, second.memoryBoot, second.woken?.kind],
        [2, first.memoryBoot, StartKind.Restore],
      )
      assert.deepEqual(gateway.all('gone'), [])
      gateway.giveBack()
      assert.equal((await scene.standBy()).slept, true)
      assert.equal((await gateway.opened()).memoryBoot, first.memoryBoot)
    })

    it('a snapshot that does not fit means new memory, and connections are gone', async () => {
      await scene.running(stateful, { vmm: { unfitSnapshots: true } })
      const gateway = new TestGateway(scene.live).connect()
      await gateway.opened()
      gateway.giveBack()
      await scene.standBy()
      const opened = await gateway.opened()
      assert.deepEqual([opened.boot, opened.memoryBoot, opened.woken?.kind], [2, 2, StartKind.Boot])
      assert.deepEqual(gateway.all('gone'), [{ kind: 'gone', instance: uuid, boot: 1 }])
    })

    it('two hundred requests at once are one start, and all are let in', async () => {
      await scene.asleep(cold, { vmm: { bootMs: 20 } })
      const gateways = Array.from({ length: 200 }, (_, index) =>
        new TestGateway(scene.live, `g${String(index)}`).connect(),
      )
      const opened = await Promise.all(gateways.map(async (gateway) => await gateway.opened()))
      assert.ok(opened.every((each) => each.boot === 2))
      assert.equal(scene.machine.host.starts, 2)
      assert.equal(scene.machine.host.mostOfOneInstance, 1)
    })

    it('a start by hand and a wake are the same boot, in either order', async () => {
      for (const handFirst of [true, false]) {
        await scene.machine.remove()
        const own = await Machine.make()
        scene.machine = own
        try {
          await scene.asleep(cold, { vmm: { bootMs: 20 } })
          const gateway = new TestGateway(scene.live).connect()
          const byHand = { instanceUuid: uuid, boot: 2 }
          const start = handFirst ? scene.live.agent.start(byHand) : undefined
          const opened = gateway.opened()
          const { started } = await (start ?? scene.live.agent.start(byHand))
          assert.deepEqual([started.boot, (await opened).boot], [2, 2])
          assert.equal(own.host.starts, 2)
        } finally {
          scene.live.kill()
          await scene.live.written()
        }
      }
    })

    it('needs neither the API nor the registry', async () => {
      await scene.asleep(cold)
      scene.live.kill()
      scene.machine.specs.clear()
      await scene.nextAgent({ images: { fail: { nth: 1, failure: 'ImageUnavailable' } } })
      assert.equal((await new TestGateway(scene.live).connect().opened()).boot, 2)
    })

    it('a failed wake is refused with its reason and told; the permit stays; the next one waits for its turn', async () => {
      await scene.asleep(cold, { vmm: { failStart: 2 } })
      const gateway = new TestGateway(scene.live).connect()
      gateway.open()
      const first = await gateway.next('refused')
      assert.deepEqual([first.reason, first.failure, first.retryAfterMs], ['failed', 'BootFailed', 1_000])
      gateway.open()
      const second = await gateway.next('refused', 2)
      assert.equal(second.reason, 'failed')
      assert.equal(scene.machine.host.starts, 1)
      await scene.live.reported()
      assert.ok(scene.machine.told.includes('wake-failed'))
      assert.equal(scene.live.agent.leases.hostLease(uuid)?.permit, 2)
      pass(scene.machine, scene.live, 1_000)
      assert.equal((await gateway.opened()).boot, 2)
      assert.equal(scene.live.agent.leases.hostLease(uuid)?.wakeFailure, undefined)
    })

    it('a packet of a peer wakes it', async () => {
      await scene.asleep(cold)
      scene.machine.network.sendFromPeer('10.64.0.2')
      await seen('it runs', () => scene.machine.host.running(uuid) === 1)
    })

    it('a packet of a peer that comes as soon as the host watches for one, before the sleep is complete, wakes it', async () => {
      for (const kind of [cold, stateful]) {
        await scene.remove()
        scene = await StandbyScene.make()
        await scene.running(kind)
        sendAtOnce(scene.machine.network)
        assert.equal((await scene.standBy()).slept, true)
        await seen('it runs', () => scene.machine.host.running(uuid) === 1)
      }
    })

    it('a packet of a peer also wakes an instance that never ran, as soon as it has its permit', async () => {
      scene.machine.scalesToZero(cold)
      await scene.nextAgent()
      sendAtOnce(scene.machine.network)
      const order = { epoch: 0, permit: 1, stateful: false, graceMs: 0 }
      const { slept } = await scene.live.agent.standBy({ instanceUuid: uuid, boot: 0, ...order })
      assert.equal(slept, true)
      await seen('it runs', () => scene.machine.host.running(uuid) === 1)
    })

    it('a packet of a peer within the back-off of a failed wake wakes it when the back-off is over', async () => {
      await scene.asleep(cold, { vmm: { failStart: 2 } })
      scene.machine.network.sendFromPeer('10.64.0.2')
      await seen('the wake has failed', () => scene.hostLease.wakeFailure !== undefined)
      await seen('it is watched for peers', () => scene.machine.network.resting.has('10.64.0.2'))
      scene.machine.network.sendFromPeer('10.64.0.2')
      pass(scene.machine, scene.live, 999)
      assert.equal(scene.hostLease.phase, 'asleep')
      pass(scene.machine, scene.live, 1)
      await seen('it runs', () => scene.machine.host.running(uuid) === 1)
    })

    it('a packet of a peer that comes before a failed wake is reported is not lost', async () => {
      await scene.asleep(cold, { vmm: { failStart: 2 } })
      sendAtOnce(scene.machine.network)
      scene.machine.network.sendFromPeer('10.64.0.2')
      await seen('the wake has failed', () => scene.hostLease.wakeFailure !== undefined)
      pass(scene.machine, scene.live, 1_000)
      await seen('it runs', () => scene.machine.host.running(uuid) === 1)
    })

    it('a packet of a peer wakes it also after a wake whose record could not be written', async () => {
      await scene.asleep(stateful)
      const { store } = scene.live.ports
      store.save = async () => await Promise.reject(new Error('the disk is broken'))
      const gateway = new TestGateway(scene.live).connect()
      gateway.open()
      assert.equal((await gateway.next('refused')).reason, 'failed')
      // The store has the method of its class again.
      Reflect.deleteProperty(store, 'save')
      pass(scene.machine, scene.live, 1_000)
      scene.machine.network.sendFromPeer('10.64.0.2')
      await seen('it runs', () => scene.machine.host.running(uuid) === 1)
    })

    it('a start that comes for a later boot leaves the sleep behind', async () => {
      await scene.asleep(stateful)
      const { started } = await scene.live.agent.start({ instanceUuid: uuid, boot: 3 })
      assert.deepEqual([started.boot, started.kind], [3, StartKind.Boot])
      assert.equal(scene.machine.host.running(uuid), 1)
    })
  })

  describe('after the death of the agent before', () => {
    it('nothing goes to standby before every gateway could say what it holds', async () => {
      await scene.running(cold)
      await scene.nextAgent()
      assert.deepEqual(await scene.standBy({ epoch: 1 }), { slept: false, reason: StandByRefusal.Unsure })
      settleIn(scene.machine, scene.live)
      assert.equal((await scene.standBy()).slept, true)
    })

    it('a lease that a gateway holds still counts', async () => {
      await scene.running(cold)
      await scene.nextAgent()
      const gateway = new TestGateway(scene.live).connect([{ boot: 1, epoch: 7 }])
      settleIn(scene.machine, scene.live)
      assert.equal(scene.hostLease.idle, undefined)
      gateway.giveBack(0, 7)
      assert.ok(scene.hostLease.idle !== undefined)
    })

    it('a lease of a boot that is over is gone', async () => {
      await scene.asleep(cold)
      await scene.nextAgent()
      const gateway = new TestGateway(scene.live).connect([{ boot: 1, epoch: 7 }])
      assert.deepEqual(await gateway.next('gone'), { kind: 'gone', instance: uuid, boot: 1 })
    })

    it('a reboot of the machine leaves sleepers asleep, with their memory', async () => {
      await scene.asleep(stateful)
      scene.live.kill()
      scene.machine.host.reboot()
      scene.machine.bootId = 'boot-2'
      await scene.machine.network.close()
      await scene.nextAgent()
      assert.equal((await new TestGateway(scene.live).connect().opened()).woken?.kind, StartKind.Restore)
    })

    it('memory that continued from a snapshot still counts as the same memory', async () => {
      await scene.asleep(stateful)
      const first = await new TestGateway(scene.live).connect().opened()
      assert.deepEqual([first.boot, first.memoryBoot], [2, 1])
      await scene.nextAgent()
      const second = await new TestGateway(scene.live).connect().opened()
      assert.deepEqual([second.boot, second.memoryBoot], [2, 1])
    })

    it('a packet of a peer that comes while an agent recovers wakes the sleeper', async () => {
      await scene.asleep(cold)
      scene.live.kill()
      sendAtOnce(scene.machine.network)
      await scene.nextAgent()
      await seen('it runs', () => scene.machine.host.running(uuid) === 1)
    })

    it('the back-off of a failed wake goes on', async () => {
      await scene.asleep(cold, { vmm: { failStart: 2 } })
      const before = new TestGateway(scene.live).connect()
      before.open()
      await before.next('refused')
      await scene.live.reported()
      await scene.nextAgent()
      const gateway = new TestGateway(scene.live).connect()
      gateway.open()
      assert.equal((await gateway.next('refused')).failure, 'BootFailed')
    })
  })
})

/** Lets a peer send a packet as soon as the host watches for one. */
function sendAtOnce(network: FakeNetwork): void {
  const standBy = network.standBy.bind(network)
  network.standBy = async (nic) => {
    await standBy(nic)
    network.sendFromPeer(nic.ip)
  }
}
