import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { HostEvent } from '../../../src/domain/instance/host-work.ts'
import type { NodeInstance } from '../../../src/domain/host/api-protocol.ts'
import { LostBoots } from '../../../src/host/instance/lost-boots.ts'
import { StartKind } from '../../../src/domain/instance/start-report.ts'
import { TestGateway } from '../leases/gateway.ts'
import { otherUuid, uuid } from '../agent/machine.ts'
import { boot, cold, StandbyScene, stateful } from '../leases/standby-scene.ts'

describe('what a host has lost', function () {
  this.timeout(20_000)
  let scene: StandbyScene
  let told: { readonly uuid: string; readonly event: HostEvent }[]
  beforeEach(async () => {
    scene = await StandbyScene.make()
    told = []
  })
  afterEach(async () => {
    await scene.remove()
  })

  async function tell(listed: readonly NodeInstance[], answers: readonly Error[] = []): Promise<void> {
    const failures = [...answers]
    const events = {
      tell: async (instance: string, event: HostEvent) => {
        const failure = failures.shift()
        if (failure !== undefined) throw failure
        told.push({ uuid: instance, event })
        return await Promise.resolve('taken' as const)
      },
    }
    const { agent, ports } = scene.live
    await new LostBoots({ agent, events, log: ports.log, nowMs: () => 5_000 }).tell(listed)
  }

  /** A machine with a new disk, and an agent that joined under the same id. */
  async function setUpAnew(): Promise<void> {
    scene.live.kill()
    await scene.live.written()
    scene.machine.host.reboot()
    await rm(join(scene.machine.directory, 'instances'), { recursive: true, force: true })
    await scene.nextAgent()
  }

  it('is reported for boots that run or sleep according to the API, and for no others', async () => {
    await scene.nextAgent()
    const states = ['running', 'standby', 'starting', 'stopping', 'draining', 'stopped'] as const
    const listed = states.map((state, at) => ({ uuid: `${uuid.slice(0, -1)}${at + 3}`, state, boot: at + 1 }))
    await tell([...listed, { uuid: otherUuid, state: 'running' }])
    assert.deepEqual(
      told.map(({ event }) => event),
      [1, 2].map((lost) => ({ kind: 'lost', boot: lost, atMs: 5_000 })),
    )
  })

  it('is nothing if there is a record, a start under way or a removal', async () => {
    await scene.running(cold)
    await tell([{ uuid, state: 'running', boot: 1 }])
    await scene.standBy()
    await tell([{ uuid, state: 'standby', boot: 1 }])
    await scene.live.agent.remove({ instanceUuid: uuid })
    await tell([{ uuid, state: 'standby', boot: 1 }])
    const start = scene.live.agent.start({ instanceUuid: otherUuid, boot: 4 })
    await new Promise((resolve) => setImmediate(resolve))
    assert.ok(scene.live.agent.entries.get(otherUuid)?.job !== undefined)
    await tell([{ uuid: otherUuid, state: 'running', boot: 3 }])
    await start
    assert.deepEqual(told, [])
    await tell([{ uuid: otherUuid, state: 'running', boot: 5 }])
    assert.equal(told.length, 1, 'a record of an older boot does not speak for a newer one')
  })

  it('is reported with the next list if it could not be reported', async () => {
    await scene.running(cold)
    await setUpAnew()
    await tell([{ uuid, state: 'running', boot: 1 }], [new Error('Temporal is away')])
    assert.deepEqual(told, [])
    await tell([{ uuid, state: 'running', boot: 1 }])
    assert.equal(told.length, 1)
  })

  for (const settings of [cold, stateful]) {
    it(`and slept (stateful: ${settings.stateful}) is left its permit again, and begins with new memory at the next wake`, async () => {
      await scene.asleep(settings)
      await setUpAnew()
      await tell([{ uuid, state: 'standby', boot: 1 }])
      assert.deepEqual(told, [{ uuid, event: { kind: 'lost', boot: 1, atMs: 5_000 } }])
      const order = { ...boot, epoch: 0, permit: 2, stateful: settings.stateful, graceMs: 0 }
      const result = await scene.live.agent.standBy(order)
      assert.deepEqual({ ...result, atMs: 0 }, { slept: true, atMs: 0 })
      assert.deepEqual(await scene.live.agent.standBy(order), result, 'a repeat answers as the first time')
      await scene.nextAgent()
      assert.equal(scene.hostLease.boot, 1)
      const opened = await new TestGateway(scene.live).connect().opened()
      assert.deepEqual([opened.boot, opened.memoryBoot, opened.woken?.kind], [2, 2, StartKind.Boot])
      assert.equal(scene.machine.host.running(uuid), 1)
    })
  }

  it('and ran is not left a permit by an order from before the loss', async () => {
    await scene.running(cold)
    await setUpAnew()
    const order = { ...boot, epoch: 77, permit: 2, stateful: false, graceMs: 0 }
    assert.deepEqual(await scene.live.agent.standBy(order), { slept: false, reason: 'not-running' })
  })

  it('gets no permit while its launch spec can not be fetched, and gets it later', async () => {
    await scene.asleep(cold)
    await setUpAnew()
    const spec = scene.machine.specs.get(uuid)
    scene.machine.specs.delete(uuid)
    const order = { ...boot, epoch: 0, permit: 2, stateful: false, graceMs: 0 }
    assert.equal((await scene.live.agent.standBy(order)).slept, false)
    assert.ok(spec !== undefined)
    scene.machine.specs.set(uuid, spec)
    assert.equal((await scene.live.agent.standBy(order)).slept, true)
  })
})
