import assert from 'node:assert/strict'
import type { FetchInput } from '../../../src/host/agent/instance-fetch.ts'
import { GarbageSweep } from '../../../src/host/agent/garbage-sweep.ts'
import { volumeFileName } from '../../../src/host/moves/held-copy.ts'
import { TransferError } from '../../../src/host/moves/transfers.ts'
import { instance, MoveScene, newPlace, oldPlace, smallVolume } from './move-scene.ts'
import { otherUuid, uuid, volumeUuid } from './machine.ts'

const stopped = { boot: 1 }
const stop = { ...instance, boot: 1, forced: false, graceMs: 0 }

describe('a volume that moves while earlier work with it may go on', function () {
  this.timeout(60_000)
  let scene: MoveScene

  beforeEach(async () => {
    scene = await MoveScene.make({ hasVolume: true })
  })
  afterEach(async () => {
    await scene.remove()
  })

  const newVolumes = () => scene.new.volumes

  async function atRest(): Promise<number> {
    await scene.makeVolume()
    const { agent } = await scene.openOld()
    await agent.start({ ...instance, boot: 1 })
    await agent.stop(stop)
    return await scene.hold(stopped)
  }

  /** The instance that is held is released and stopped, and another one gets its volume and is held. */
  async function givenToAnother(): Promise<FetchInput> {
    const { agent } = scene.oldLive
    await agent.moves.release(instance)
    const other = { instanceUuid: otherUuid, boot: 1 }
    scene.old.attach(otherUuid, smallVolume)
    await agent.start(other)
    await agent.stop({ ...stop, ...other })
    const volume = { uuid: volumeUuid, sizeMb: smallVolume.sizeMb }
    const held = await agent.moves.hold({ ...other, volume, to: newPlace })
    assert.ok(held.held)
    return { ...other, volume, from: { ...oldPlace, port: held.port } }
  }

  it('is left alone by a fetch for the instance that had it before, which is called off', async () => {
    const port = await atRest()
    const { ports, agent } = await scene.openNew()
    const { transfers } = ports
    assert.ok(transfers !== undefined)
    const { fetchFile } = transfers
    const [reached, broken] = [Promise.withResolvers<undefined>(), Promise.withResolvers<never>()]
    transfers.fetchFile = async ({ file }, signal) => {
      if (file.name !== volumeFileName) return { bytes: 0, compressedBytes: 0 }
      transfers.fetchFile = fetchFile
      signal.addEventListener('abort', () => {
        broken.reject(signal.reason as Error)
      })
      reached.resolve(undefined)
      return await broken.promise
    }
    const late = scene.fetch(port, { rest: stopped })
    late.catch(() => undefined)
    await reached.promise
    const other = await givenToAnother()
    assert.deepEqual(await agent.moves.fetch(other), { memory: 'none', volumeUuid })
    broken.reject(new TransferError('the other host was away'))
    await assert.rejects(late)
    assert.equal(newVolumes().waiting.get(volumeUuid)?.instanceUuid, otherUuid)
  })

  it('is not dropped for another instance while its own waits for it', async () => {
    const port = await atRest()
    const live = await scene.openNew()
    await scene.fetch(port, { rest: stopped })
    const other = await givenToAnother()
    await assert.rejects(live.agent.moves.fetch(other), /waits here for the volume/)
    assert.equal(newVolumes().waiting.get(volumeUuid)?.instanceUuid, uuid)
    const list = async () => await Promise.resolve({ instances: [] })
    await new GarbageSweep({ agent: live.agent, ports: live.ports, list }).sweep({ wasLost: true })
    assert.deepEqual(await live.agent.moves.fetch(other), { memory: 'none', volumeUuid })
  })

  it('stays for a day if its old host can not be asked, also if the API says that it is not moving here', async () => {
    const port = await atRest()
    const { agent, ports } = await scene.openNew()
    await scene.fetch(port, { rest: stopped })
    scene.oldLive.kill()
    const list = async () => await Promise.resolve({ instances: [], arriving: [] })
    const sweep = new GarbageSweep({ agent, ports, list })
    const dayMs = 24 * 3_600_000
    scene.new.nowMs = Date.now()
    for (const ms of [0, dayMs - 60_000]) {
      scene.new.nowMs += ms
      assert.deepEqual(await sweep.sweep(), [])
      assert.equal(newVolumes().waiting.get(volumeUuid)?.instanceUuid, uuid)
    }
    scene.new.nowMs += 120_000
    assert.deepEqual(await sweep.sweep(), [uuid])
    assert.equal(newVolumes().waiting.size, 0)
  })

  it('is left where it is by a fetch that fails when all of it has arrived', async () => {
    const port = await atRest()
    await scene.openNew()
    const { finishArrival } = newVolumes()
    newVolumes().finishArrival = async (...arrived) => {
      await finishArrival.apply(newVolumes(), arrived)
      throw new Error('the disk fails')
    }
    await assert.rejects(scene.fetch(port, { rest: stopped }), /the disk fails/)
    assert.ok(newVolumes().waiting.has(volumeUuid))
  })

  it('is repaired at the new host only when its instance does not wait for it any more', async () => {
    await scene.asleep()
    const port = await scene.hold()
    const { agent } = await scene.openNew()
    await scene.fetch(port)
    scene.moveRow()
    const repairing = agent.volumes.repair(volumeUuid, new AbortController().signal)
    repairing.catch(() => undefined)
    await agent.moves.take(instance)
    assert.equal(newVolumes().held.get(volumeUuid), uuid)
    await agent.stop({ ...stop, boot: 2 })
    await repairing
  })

  it('is fetched by a host that knows its instance from an earlier stay, and has no volume of it', async () => {
    const port = await atRest()
    const { agent } = await scene.openNew()
    scene.new.specs.set(uuid, scene.spec)
    await newVolumes().make({ uuid: volumeUuid, sizeMb: smallVolume.sizeMb })
    await agent.start({ ...instance, boot: 1 })
    await agent.stop(stop)
    await newVolumes().remove(volumeUuid)
    assert.equal(agent.entries.get(uuid)?.record?.volume?.uuid, volumeUuid)
    await scene.fetch(port, { rest: stopped })
    assert.ok(newVolumes().waiting.has(volumeUuid))
  })
})
