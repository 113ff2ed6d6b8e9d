import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { GarbageSweep } from '../../../src/host/agent/garbage-sweep.ts'
import { TransferClient } from '../../../src/host/moves/transfer-client.ts'
import type { HeldSource } from '../../../src/host/moves/transfers.ts'
import { settleIn } from '../leases/gateway.ts'
import { instance, MoveScene, newPlace, oldPlace, slept } from './move-scene.ts'
import { otherUuid, uuid } from './machine.ts'
import type { LiveAgent } from './machine.ts'

const directoryOf = (live: LiveAgent): string => live.ports.store.directory(uuid)
const recordOf = (live: LiveAgent) => live.agent.entries.get(uuid)?.record

describe('a hold for a move', function () {
  this.timeout(60_000)
  let scene: MoveScene

  beforeEach(async () => {
    scene = await MoveScene.make()
  })
  afterEach(async () => {
    await scene.remove()
  })

  it('is not deleted by a word about an earlier hold', async () => {
    await scene.asleep()
    const port = await scene.hold()
    const from = { ...oldPlace, port }
    const signal = AbortSignal.timeout(10_000)
    const client = new TransferClient(newPlace.address)
    const { holdUuid: earlier = '' } = recordOf(scene.oldLive)?.move ?? {}
    await scene.oldLive.agent.moves.release(instance)
    await scene.hold()
    const { holdUuid = '' } = recordOf(scene.oldLive)?.move ?? {}
    for (const other of [earlier, otherUuid, '', 'x'])
      await client.tellTaken(from, { instanceUuid: uuid, holdUuid: other }, signal)
    assert.ok(existsSync(directoryOf(scene.oldLive)))
    assert.equal(scene.phases()[0], 'held')
    await client.tellTaken(from, { instanceUuid: uuid, holdUuid }, signal)
    await scene.oldHasNothing()
  })

  it('lets its files be read until it is over, and a later one does not make up for it', async () => {
    await scene.asleep()
    const { transfers } = scene.oldLive.ports
    assert.ok(transfers !== undefined)
    const { serve } = transfers
    const sources: HeldSource[] = []
    transfers.serve = async (source, to) => {
      sources.push(source)
      return await serve(source, to)
    }
    await scene.hold()
    const fileNow = async () => await sources[0]?.fileFor(uuid, newPlace.address, 'snapshot/memory')
    const first = await fileNow()
    assert.equal(first?.isHeld(), true)
    await scene.oldLive.agent.moves.release(instance)
    assert.deepEqual([first.isHeld(), await fileNow()], [false, undefined])
    await scene.hold()
    const second = await fileNow()
    assert.deepEqual([first.isHeld(), second?.isHeld()], [false, true])
    await scene.oldLive.agent.clear(instance)
    assert.equal(second?.isHeld(), false)
  })

  it('an order to stand by that is done already, without a hold, ends the hold at both hosts', async () => {
    await scene.asleep()
    const port = await scene.hold()
    await scene.openNew()
    await scene.fetch(port)
    const order = { ...slept, epoch: 7, stateful: true, graceMs: 0, drainMs: 0 }
    assert.equal((await scene.oldLive.agent.standBy({ ...order, hold: newPlace })).slept, true)
    assert.equal((await scene.newLive.agent.standBy({ ...order, hold: newPlace })).slept, true)
    assert.deepEqual(scene.phases(), ['held', 'held'])
    assert.equal((await scene.oldLive.agent.standBy(order)).slept, true)
    assert.deepEqual([scene.phases()[0], recordOf(scene.oldLive)?.move], ['asleep', undefined])
    scene.moveRow()
    assert.equal((await scene.newLive.agent.standBy(order)).slept, true)
    assert.deepEqual([scene.phases()[1], recordOf(scene.newLive)?.move], ['asleep', undefined])
  })

  it('that comes back is missed again, if it is lost after that', async () => {
    await scene.asleep()
    const port = await scene.hold()
    await scene.openNew()
    await scene.fetch(port)
    scene.moveRow()
    await scene.newLive.agent.moves.take(instance)
    await scene.oldHasNothing()
    const { agent } = scene.oldLive
    assert.ok(agent.hasRemoved(uuid))
    const held = await scene.newLive.agent.moves.hold({ ...slept, to: oldPlace })
    assert.ok(held.held)
    await agent.moves.fetch({ ...slept, from: { ...newPlace, port: held.port } })
    assert.equal(agent.hasRemoved(uuid), false)
  })

  describe('that was fetched, while the API does not list it here', () => {
    let sweep: GarbageSweep
    /** What the API of today tells beside the list. Absent: the API is of an earlier version. */
    let arriving: readonly string[] | undefined
    const dayMs = 24 * 3_600_000

    beforeEach(async () => {
      arriving = undefined
      await scene.asleep()
      const port = await scene.hold()
      const live = await scene.openNew()
      await scene.fetch(port)
      sweep = new GarbageSweep({
        agent: live.agent,
        ports: live.ports,
        list: async () => await Promise.resolve({ instances: [], ...(arriving && { arriving }) }),
      })
      scene.new.nowMs = Date.now()
      assert.deepEqual(await sweep.sweep(), [])
    })

    const later = (ms: number): void => {
      scene.new.nowMs = Date.now() + ms
    }

    /** It is swept away here, and nothing of it is left. */
    async function goes(): Promise<void> {
      assert.deepEqual(await sweep.sweep(), [uuid])
      assert.deepEqual(await readdir(join(scene.new.directory, 'instances')), [])
    }

    it('stays as long as the old host holds it, also on a host that was lost, and can be taken', async () => {
      for (const ms of [120_000, 3 * dayMs]) {
        later(ms)
        assert.deepEqual(await sweep.sweep(), [])
        assert.deepEqual(await sweep.sweep({ wasLost: true }), [])
      }
      scene.moveRow()
      await scene.newLive.agent.moves.take(instance)
      await scene.oldHasNothing()
      assert.equal(scene.phases()[1], 'asleep')
      assert.deepEqual(await sweep.sweep({ wasLost: true }), [uuid], 'what was taken is no copy any more')
    })

    it('is swept away once the old host holds it anew, and is still there', async () => {
      await scene.oldLive.agent.moves.release(instance)
      await scene.hold()
      later(120_000)
      await goes()
      assert.deepEqual(scene.phases(), ['held', undefined])
      settleIn(scene.old, scene.oldLive)
      assert.deepEqual(
        scene.newLive.log.filter((line) => line.includes('could not')),
        [],
      )
    })

    it('is swept away once the old host says that it does not hold it', async () => {
      await scene.oldLive.agent.moves.release(instance)
      later(30_000)
      assert.deepEqual(await sweep.sweep(), [], 'not before it counts as deleted')
      later(120_000)
      await goes()
    })

    for (const [why, told] of [
      ['the API says that it is moving here', [uuid]],
      ['the API is of an earlier version, and does not say what is moving here', undefined],
    ] as const)
      it(`stays for a day if the old host can not be asked, and ${why}`, async () => {
        scene.oldLive.kill()
        arriving = told
        later(dayMs - 60_000)
        assert.deepEqual(await sweep.sweep(), [])
        assert.deepEqual(await sweep.sweep({ wasLost: true }), [])
        later(dayMs + 60_000)
        await goes()
      })

    it('is swept away after a minute if the old host can not be asked, and the API says that it is not moving here', async () => {
      scene.oldLive.kill()
      arriving = [otherUuid]
      later(30_000)
      assert.deepEqual(await sweep.sweep(), [])
      assert.deepEqual(await sweep.sweep({ wasLost: true }), [])
      later(120_000)
      await goes()
    })

    it('stays while the old host holds it, even if the API does not say that it is moving here', async () => {
      arriving = []
      later(120_000)
      assert.deepEqual(await sweep.sweep(), [])
    })
  })
})
