import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { StandByRefusal } from '../../../src/domain/instance/host-work.ts'
import { StartKind } from '../../../src/domain/instance/start-report.ts'
import { DiskFullError } from '../../../src/host/disk-room.ts'
import { UsageMeter } from '../../../src/host/instance/usage-meter.ts'
import { pass, seen, TestGateway } from './gateway.ts'
import { uuid } from '../agent/machine.ts'
import { boot, cold, forced, gentle, StandbyScene, stateful } from './standby-scene.ts'

describe('standby of an agent', function () {
  this.timeout(20_000)
  let scene: StandbyScene
  beforeEach(async () => {
    scene = await StandbyScene.make()
  })
  afterEach(async () => {
    await scene.remove()
  })

  describe('going to standby', () => {
    it('cold, the application is shut down, and its end is in the answer alone', async () => {
      await scene.running(cold)
      const result = await scene.standBy()
      assert.ok(result.slept)
      assert.equal(result.exit?.signal, 15)
      assert.equal(result.snapshotUuid, undefined)
      assert.equal(scene.machine.host.running(), 0)
      await scene.live.reported()
      assert.deepEqual(scene.machine.reports, [])
    })

    it('stateful, nothing ends, and there is a snapshot', async () => {
      await scene.running(stateful)
      const result = await scene.standBy()
      assert.ok(result.slept)
      assert.equal(result.exit, undefined)
      assert.match(result.snapshotUuid ?? '', /^[0-9a-f-]{36}$/)
      assert.equal(scene.machine.host.running(), 0)
    })

    it('keeps the address, and the launch spec where only the agent can read it', async () => {
      await scene.asleep(cold)
      assert.equal(scene.machine.network.attached.size, 1)
      const directory = join(scene.live.ports.store.directory(uuid), 'launch')
      assert.equal((await stat(directory)).mode & 0o777, 0o700)
      assert.equal((await stat(join(directory, 'launch.json'))).mode & 0o777, 0o600)
    })

    it('a sleeping instance uses no memory, and keeps the rest of its usage', async () => {
      await scene.running(stateful)
      const meter = new UsageMeter(scene.live.ports, scene.live.agent.entries)
      assert.ok(((await meter.usageOf([uuid]))[uuid]?.rssBytes ?? 0) > 0)
      await scene.standBy()
      const usage = (await meter.usageOf([uuid]))[uuid]
      assert.equal(usage?.rssBytes, 0)
      assert.ok(usage.cpuTimeMs > 0)
    })

    it('a repeated order gets the same answer, also after the wake, and from the next agent', async () => {
      await scene.running(cold)
      const order = { boot: 1, epoch: scene.hostLease.idle?.epoch ?? 0, permit: 2 }
      const first = await scene.standBy(order)
      assert.deepEqual(await scene.standBy(order), first)
      await new TestGateway(scene.live).connect().opened()
      assert.deepEqual(await scene.standBy(order), first)
      await scene.nextAgent()
      assert.deepEqual(await scene.standBy(order), first)
      assert.equal(scene.machine.host.running(uuid), 1)
    })

    it('a repeated order after the wake has the wake and its end reported again, because the workflow may not know of them', async () => {
      await scene.running(cold)
      const order = { boot: 1, epoch: scene.hostLease.idle?.epoch ?? 0, permit: 2 }
      await scene.standBy(order)
      await new TestGateway(scene.live).connect().opened()
      await scene.live.reported()
      const once = scene.machine.told.filter((kind) => kind === 'started').length
      await scene.standBy(order)
      await scene.live.reported()
      assert.equal(scene.machine.told.filter((kind) => kind === 'started').length, once + 1)
      scene.machine.host.end({ instanceUuid: uuid, boot: 2 }, { cause: 'guest', exitCode: 0 })
      await seen('its end is told', () => scene.machine.reports.length === 1)
      await scene.live.reported()
      await scene.standBy(order)
      await scene.live.reported()
      assert.deepEqual(
        scene.machine.reports.map(({ boot }) => boot),
        [2, 2],
      )
    })

    describe('where the disk of the host has no room for the memory', () => {
      /** How many reservations are held. The disk has room for one, the memory of an instance of 128 MB. */
      let held: number
      let askedMb: number
      beforeEach(() => {
        held = 0
        scene.machine.disk = {
          reserve: async ({ bytes }) => {
            askedMb = bytes / 1_048_576
            if (held > 0) throw new DiskFullError(bytes, figures)
            held += 1
            return await Promise.resolve({ release: () => void (held -= 1) })
          },
        }
      })
      const figures = { freeBytes: 80e6, promisedBytes: 0, reserveBytes: 60e6, leftBytes: 20 * 1_048_576 }
      const noRoom = { slept: false, reason: StandByRefusal.NoRoom }

      it('stateful, it is refused before the guest is asked, and the host’s answer has the figures', async () => {
        await scene.running(stateful)
        held = 1
        assert.deepEqual(await scene.standBy(), noRoom)
        assert.equal(scene.machine.host.running(uuid), 1)
        const told = scene.live.agent.leases.hostLease(uuid)
        assert.deepEqual(told?.noRoom, { atMs: scene.machine.nowMs, neededMb: askedMb, leftMb: 20 })
        assert.deepEqual(scene.live.log, [
          'an instance stays awake: the disk of this host has no room for its memory',
        ])
      })

      it('stateful, it goes to standby once there is room; the reservation is given back when the memory is written', async () => {
        await scene.running(stateful)
        held = 1
        assert.deepEqual(await scene.standBy(), noRoom)
        held = 0
        pass(scene.machine, scene.live, 1_000)
        assert.ok((await scene.standBy()).slept)
        await scene.live.agent.entries.get(uuid)?.sleep
        assert.equal(held, 0)
        await new TestGateway(scene.live).connect().opened()
        assert.equal(scene.live.agent.leases.hostLease(uuid)?.noRoom, undefined)
      })

      it('gives its reservation back if there was no snapshot', async () => {
        await scene.running(stateful, { vmm: { failSuspend: 1 } })
        assert.deepEqual(await scene.standBy(), { slept: false, reason: StandByRefusal.SnapshotFailed })
        await scene.live.agent.entries.get(uuid)?.sleep
        assert.equal(held, 0)
      })

      it('cold, it asks for no room', async () => {
        await scene.running(cold)
        held = 1
        assert.ok((await scene.standBy()).slept)
      })
    })

    it('two orders at once are carried out once', async () => {
      await scene.running(stateful, { vmm: { suspendMs: 10 } })
      const [one, two] = await Promise.all([scene.standBy(), scene.standBy()])
      assert.ok(one.slept)
      assert.deepEqual(one, two)
    })

    it('is refused for an outdated idle period, while a gateway holds a lease, and for another boot', async () => {
      await scene.running(cold)
      const epoch = scene.hostLease.idle?.epoch ?? 0
      assert.deepEqual(await scene.standBy({ epoch: epoch + 1 }), {
        slept: false,
        reason: StandByRefusal.Busy,
      })
      assert.deepEqual(await scene.standBy({ boot: 2, permit: 3 }), {
        slept: false,
        reason: StandByRefusal.NotRunning,
      })
      const gateway = new TestGateway(scene.live).connect()
      await gateway.opened()
      assert.deepEqual(await scene.standBy({ epoch }), { slept: false, reason: StandByRefusal.Busy })
      gateway.giveBack()
      assert.deepEqual(await scene.standBy({ epoch }), { slept: false, reason: StandByRefusal.Busy })
      assert.equal((await scene.standBy()).slept, true)
    })

    it('is refused when peers sent something in the idle period, which begins again', async () => {
      await scene.running(cold)
      const before = scene.hostLease.idle
      await seen('the packets of peers are counted', () => scene.hostLease.idle?.peerPackets !== undefined)
      scene.machine.network.sendFromPeer('10.64.0.2')
      assert.deepEqual(await scene.standBy(), { slept: false, reason: StandByRefusal.Busy })
      assert.ok((scene.hostLease.idle?.epoch ?? 0) > (before?.epoch ?? 0))
      await seen('the packets of peers are counted again', () => scene.hostLease.idle?.peerPackets === 1)
      assert.equal((await scene.standBy()).slept, true)
    })

    it('is refused when the guest speaks against it, also at the last moment', async () => {
      for (const lastMoment of [false, true]) {
        await scene.remove()
        scene = await StandbyScene.make()
        await scene.running(cold, { vmm: { askMs: 10 } })
        const order = { epoch: scene.hostLease.idle?.epoch ?? 0 }
        const early = lastMoment ? scene.standBy(order) : undefined
        if (lastMoment) await seen('it is asked', () => scene.hostLease.phase === 'standing-by')
        scene.machine.host.setDisabled(boot, true)
        const refused = { slept: false, reason: StandByRefusal.Disabled }
        assert.deepEqual(await (early ?? scene.standBy(order)), refused)
        assert.equal(scene.machine.host.running(uuid), 1)
        assert.equal(scene.live.agent.leases.hostLease(uuid)?.disabled, true)
      }
    })

    it('a snapshot that fails leaves the VM as it was, and a new idle period begins', async () => {
      await scene.running(stateful, { vmm: { failSuspend: 1 } })
      assert.deepEqual(await scene.standBy(), { slept: false, reason: StandByRefusal.SnapshotFailed })
      assert.equal(scene.machine.host.running(uuid), 1)
      const gateway = new TestGateway(scene.live).connect()
      assert.equal((await gateway.opened()).boot, 1)
      gateway.giveBack()
      assert.equal((await scene.standBy()).slept, true)
    })

    it('an instance that never ran is left only its permit, and wakes by it', async () => {
      scene.machine.scalesToZero(cold)
      await scene.nextAgent()
      const order = { ...boot, boot: 0, epoch: 0, permit: 1, stateful: false, graceMs: 0 }
      const result = await scene.live.agent.standBy(order)
      assert.ok(result.slept)
      assert.deepEqual(await scene.live.agent.standBy(order), result)
      await scene.nextAgent()
      assert.equal((await new TestGateway(scene.live).connect().opened()).boot, 1)
      assert.equal(scene.machine.host.starts, 1)
    })

    it('a request that waits shortens the shutdown to a second', async () => {
      scene.machine.runs('ignore-shutdown')
      await scene.running(cold)
      const gateway = new TestGateway(scene.live).connect()
      const result = scene.standBy({ graceMs: 600_000 })
      await scene.shutdownAsked()
      const begun = performance.now()
      const { boot: woken } = await gateway.opened()
      assert.equal(woken, 2)
      assert.ok(performance.now() - begun < 15_000)
      const slept = await result
      assert.ok(slept.slept && slept.exit?.killedAtShutdown === true)
    })
  })

  describe('ending', () => {
    it('a stop takes permit, snapshot and launch spec away, for good', async () => {
      await scene.asleep(stateful)
      for (const _ of ['once', 'again']) {
        assert.deepEqual(await scene.live.agent.stop({ instanceUuid: uuid, boot: 2, ...gentle }), {})
      }
      const directory = scene.live.ports.store.directory(uuid)
      assert.deepEqual(
        [existsSync(join(directory, 'snapshot')), existsSync(join(directory, 'launch'))],
        [false, false],
      )
      assert.equal(scene.machine.network.attached.size, 0)
      await scene.nextAgent()
      const gateway = new TestGateway(scene.live).connect()
      gateway.open()
      assert.equal((await gateway.next('refused')).reason, 'stopped')
      await assert.rejects(scene.live.agent.start({ instanceUuid: uuid, boot: 2 }))
      await scene.live.reported()
      assert.deepEqual(scene.machine.reports, [])
    })

    it('a stop of the permit’s boot ends the earlier boot if that still runs', async () => {
      await scene.running(cold)
      const { exit } = await scene.live.agent.stop({ instanceUuid: uuid, boot: 2, ...gentle })
      assert.deepEqual([exit?.boot, exit?.signal], [1, 15])
      assert.equal(scene.machine.host.running(), 0)
      await scene.live.reported()
      assert.deepEqual(
        scene.machine.reports.map(({ boot: ended, signal }) => [ended, signal]),
        [[1, 15]],
      )
    })

    it('a stop overtakes a shutdown for standby', async () => {
      scene.machine.runs('ignore-shutdown')
      await scene.running(cold)
      const result = scene.standBy({ graceMs: 600_000 })
      await scene.shutdownAsked()
      await scene.live.agent.stop({ instanceUuid: uuid, boot: 2, ...forced })
      assert.deepEqual(await result, { slept: false, reason: StandByRefusal.NotRunning })
      assert.equal(scene.machine.host.running(), 0)
      assert.equal(scene.hostLease.permit, undefined)
    })

    it('a stop waits for a snapshot that is being written, and drops it', async () => {
      await scene.running(stateful, { vmm: { suspendMs: 20 } })
      const result = scene.standBy()
      await scene.live.agent.stop({ instanceUuid: uuid, boot: 2, ...gentle })
      await result
      assert.equal(scene.machine.host.running(), 0)
      assert.equal(scene.hostLease.permit, undefined)
      assert.equal(existsSync(join(scene.live.ports.store.directory(uuid), 'snapshot')), false)
    })

    it('gateways hear first that the instance closes, then that it is gone', async () => {
      await scene.running(cold)
      const gateway = new TestGateway(scene.live).connect()
      await gateway.opened()
      await scene.live.agent.stop({ ...boot, ...gentle })
      await gateway.next('gone')
      const words = gateway.heard.map(({ kind }) => kind)
      assert.deepEqual(words.slice(-2), ['close', 'gone'])
    })

    it('a removal of a sleeping instance leaves nothing', async () => {
      await scene.asleep(stateful)
      await scene.live.agent.remove({ instanceUuid: uuid })
      assert.equal(existsSync(scene.live.ports.store.directory(uuid)), false)
      assert.equal(scene.machine.network.attached.size, 0)
    })

    it('an order that comes after the removal is refused, and brings nothing back', async () => {
      scene.machine.scalesToZero(cold)
      await scene.nextAgent()
      const { agent, ports } = scene.live
      await agent.remove({ instanceUuid: uuid })
      const order = { ...boot, boot: 0, epoch: 0, permit: 1, stateful: false, graceMs: 0 }
      assert.deepEqual(await agent.standBy(order), { slept: false, reason: StandByRefusal.NotRunning })
      assert.equal(agent.entries.size, 0)
      assert.equal(existsSync(ports.store.directory(uuid)), false)
    })

    it('a halt of the platform leaves sleepers asleep, with their permit', async () => {
      await scene.asleep(stateful)
      await scene.live.halt()
      await scene.nextAgent()
      assert.equal((await new TestGateway(scene.live).connect().opened()).woken?.kind, StartKind.Restore)
      await scene.live.reported()
      assert.deepEqual(scene.machine.reports, [])
    })
  })
})
