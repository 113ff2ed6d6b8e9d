import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { GarbageSweep } from '../../../src/host/agent/garbage-sweep.ts'
import type { HeldCopy } from '../../../src/host/moves/held-copy.ts'
import { volumeFileName } from '../../../src/host/moves/held-copy.ts'
import { TransferError } from '../../../src/host/moves/transfers.ts'
import { seen, TestGateway } from '../leases/gateway.ts'
import { WatchedVolumes } from '../volumes/agent-volume-watch.ts'
import { instance, MoveScene, newPlace, oldPlace, precious, slept } from './move-scene.ts'
import { otherUuid, uuid, volumeUuid } from './machine.ts'
import type { LiveAgent } from './machine.ts'

const stopped = { boot: 1 }
const stop = { ...instance, boot: 1, forced: false, graceMs: 0 }
const recordOf = (live: LiveAgent) => live.agent.entries.get(uuid)?.record

describe('an instance that moves with its volume', function () {
  this.timeout(60_000)
  let scene: MoveScene

  beforeEach(async () => {
    scene = await MoveScene.make({ hasVolume: true })
  })
  afterEach(async () => {
    await scene.remove()
  })

  const oldVolumes = () => scene.old.volumes
  const newVolumes = () => scene.new.volumes
  const contentAt = async (where: 'old' | 'new') =>
    (await readFile(scene[where].volumes.contentOf(volumeUuid))).toString(
      'latin1',
      700_000,
      700_000 + precious.length,
    )
  /** Who holds the volume at each host, and which of them have it complete. */
  const holders = () => [oldVolumes(), newVolumes()].map(({ held }) => held.get(volumeUuid))
  const complete = () => [oldVolumes(), newVolumes()].map(({ made }) => made.has(volumeUuid))
  const sweepOf = (live: LiveAgent, listed: readonly string[] = []) =>
    new GarbageSweep({
      agent: live.agent,
      ports: live.ports,
      list: async () =>
        await Promise.resolve({ instances: listed.map((each) => ({ uuid: each, state: 'standby' })) }),
    })

  async function fetched(): Promise<void> {
    await scene.asleep()
    const port = await scene.hold()
    await scene.openNew()
    assert.deepEqual(await scene.fetch(port), { memory: 'kept', volumeUuid })
  }

  async function atRest(): Promise<number> {
    await scene.makeVolume()
    const { agent } = await scene.openOld()
    await agent.start({ ...instance, boot: 1 })
    await agent.stop(stop)
    return await scene.hold(stopped)
  }

  it('goes on from its memory with all that is on it, and the old copy is overwritten', async () => {
    await fetched()
    assert.deepEqual(complete(), [true, false])
    assert.deepEqual([...newVolumes().waiting.keys()], [volumeUuid])
    scene.moveRow()
    await scene.newLive.agent.moves.take(instance)
    assert.deepEqual([holders()[1], complete()[1]], [uuid, true])
    await scene.oldHasNothing()
    assert.deepEqual(
      [complete(), holders(), oldVolumes().overwritten],
      [[false, true], [undefined, uuid], [volumeUuid]],
    )
    assert.equal(existsSync(oldVolumes().contentOf(volumeUuid)), false)
    assert.equal(await contentAt('new'), precious)
    assert.ok(
      (await stat(newVolumes().contentOf(volumeUuid))).blocks * 512 < 200_000,
      'what is empty stays empty',
    )
    const opened = await new TestGateway(scene.newLive).connect().opened()
    assert.deepEqual([opened.boot, opened.memoryBoot, opened.woken?.kind], [2, 1, 'restore'])
    assert.deepEqual([recordOf(scene.newLive)?.volume?.uuid, newVolumes().checked], [volumeUuid, []])
  })

  it('that is stopped is held meanwhile, and free at both hosts afterwards', async () => {
    const port = await atRest()
    assert.deepEqual([holders(), oldVolumes().checked.length], [[uuid, undefined], 2])
    await scene.oldLive.agent.check()
    assert.equal(holders()[0], uuid, 'nobody else gets it while it is read')
    await scene.openOld()
    assert.equal(holders()[0], uuid)
    await scene.openNew()
    await scene.fetch(port, { rest: stopped })
    scene.moveRow()
    await scene.newLive.agent.moves.take(instance)
    await scene.oldHasNothing()
    assert.deepEqual(
      [complete(), holders()],
      [
        [false, true],
        [undefined, undefined],
      ],
    )
    assert.equal(await contentAt('new'), precious)
    await scene.newLive.agent.start({ ...instance, boot: 2 })
    assert.deepEqual([holders()[1], newVolumes().checked], [uuid, [volumeUuid]])
  })

  it('that never ran moves, too', async () => {
    await scene.makeVolume()
    await scene.openOld()
    const port = await scene.hold({ boot: 0 })
    await scene.openNew()
    assert.deepEqual(await scene.fetch(port, { rest: { boot: 0 } }), { memory: 'none', volumeUuid })
    scene.moveRow()
    await scene.newLive.agent.moves.take(instance)
    await scene.oldHasNothing()
    await scene.newLive.agent.start({ ...instance, boot: 1 })
    assert.deepEqual([complete(), await contentAt('new')], [[false, true], precious])
  })

  it('is held when a hold that failed is asked for again, and only then', async () => {
    scene.old.volumes = new WatchedVolumes(scene.old, {
      directory: `${scene.old.directory}/contents`,
      fail: { hold: 2 },
    })
    await assert.rejects(atRest(), /hold 2 fails as asked/)
    assert.equal(recordOf(scene.oldLive)?.move, undefined)
    await scene.hold(stopped)
    assert.equal(holders()[0], uuid)
  })

  it('stays where it is if it is released, and its volume is free if it is stopped', async () => {
    await atRest()
    await scene.oldLive.agent.moves.release(instance)
    assert.deepEqual([holders()[0], complete()[0]], [undefined, true])
    await scene.hold(stopped)
    await scene.oldLive.agent.stop(stop)
    assert.equal(holders()[0], undefined)
    await scene.oldLive.agent.start({ ...instance, boot: 2 })
    assert.equal(await contentAt('old'), precious)
  })

  it('is refused by an old host where it has another volume, or one that is not to move', async () => {
    await scene.asleep()
    const { moves } = scene.oldLive.agent
    await assert.rejects(moves.hold({ ...slept, to: newPlace }), /another volume here/)
    const other = { uuid: otherUuid, sizeMb: 1 }
    await assert.rejects(moves.hold({ ...slept, to: newPlace, volume: other }), /another volume here/)
    await new TestGateway(scene.oldLive).connect().opened()
    const order = { ...instance, boot: 2, permit: 3, epoch: 1, stateful: true, graceMs: 0, drainMs: 0 }
    await assert.rejects(scene.oldLive.agent.standBy({ ...order, hold: newPlace }), /another volume here/)
  })

  it('is refused by a new host that is told of another volume, another length, or none', async () => {
    await scene.asleep()
    const port = await scene.hold()
    const { ports, agent } = await scene.openNew()
    const { transfers } = ports
    assert.ok(transfers !== undefined)
    const told = await transfers.copyOf({ ...oldPlace, port }, uuid, AbortSignal.timeout(10_000))
    const lies: readonly Partial<HeldCopy>[] = [
      { volume: { uuid: otherUuid, bytes: 1_048_576 } },
      { volume: { uuid: volumeUuid, bytes: 1_048_577 } },
    ]
    const { volume: _left, ...without } = told
    for (const copy of [...lies.map((lie) => ({ ...told, ...lie })), without]) {
      transfers.copyOf = async () => await Promise.resolve(copy)
      await assert.rejects(scene.fetch(port), /it has another volume, or none/)
    }
    transfers.copyOf = async () => await Promise.resolve(told)
    const from = { ...oldPlace, port }
    await assert.rejects(agent.moves.fetch({ ...slept, from }), /it has another volume, or none/)
    assert.deepEqual([newVolumes().arriving.size, newVolumes().waiting.size], [0, 0])
  })

  it('leaves nothing at a new host that it did not reach as a whole, and is whole at the old one', async () => {
    await scene.asleep()
    const port = await scene.hold()
    const { ports } = await scene.openNew()
    const { transfers } = ports
    assert.ok(transfers !== undefined)
    const { fetchFile } = transfers
    transfers.fetchFile = async (wanted, signal) => {
      const count = await fetchFile(wanted, signal)
      if (wanted.file.name === volumeFileName)
        throw new TransferError('what arrived is not what host old has')
      return count
    }
    await assert.rejects(scene.fetch(port), /what arrived is not what host old has/)
    assert.deepEqual([newVolumes().arriving.size, newVolumes().overwritten], [0, [volumeUuid]])
    assert.deepEqual([complete(), await contentAt('old')], [[true, false], precious])
    assert.equal(recordOf(scene.newLive), undefined)
    transfers.fetchFile = fetchFile
    assert.deepEqual(await scene.fetch(port), { memory: 'kept', volumeUuid })
  })

  it('is given to the new host alone, and to nobody once it is released', async () => {
    await scene.asleep()
    const port = await scene.hold()
    const { ports } = await scene.openNew()
    const wanted = {
      from: { ...oldPlace, port },
      instanceUuid: uuid,
      file: { name: volumeFileName, bytes: 1_048_576 },
      path: `${scene.new.directory}/stolen`,
    }
    const signal = AbortSignal.timeout(10_000)
    await scene.oldLive.agent.moves.release(instance)
    await assert.rejects(ports.transfers!.fetchFile(wanted, signal), /does not hold/)
  })

  it('finds no room at a new host that is full', async () => {
    await scene.asleep()
    const port = await scene.hold()
    await scene.openNew()
    await newVolumes().make({ uuid: otherUuid, sizeMb: 1_048_576 })
    await assert.rejects(scene.fetch(port), { failure: 'HostFull' })
  })

  for (const [what, own] of [
    ['says that the volume is its own', 'here'],
    ['can not be asked', undefined],
  ] as const)
    it(`is not overwritten at the word of another host while the API ${what}`, async () => {
      await fetched()
      scene.moveRow()
      scene.old.placeOf = own && new Map([[volumeUuid, own]])
      const { holdUuid = '' } = recordOf(scene.oldLive)?.move ?? {}
      await scene.newLive.agent.moves.take(instance)
      const hold = { instanceUuid: uuid, holdUuid }
      const place = recordOf(scene.oldLive)?.move
      assert.ok(place?.role === 'old' && place.port !== undefined)
      const from = { ...oldPlace, port: place.port }
      await assert.rejects(
        scene.newLive.ports.transfers!.tellTaken(from, hold, AbortSignal.timeout(10_000)),
        /it answers 500/,
      )
      assert.deepEqual([complete(), oldVolumes().overwritten], [[true, true], []])
    })

  it('is overwritten by the sweep of an old host that was away, once the API says whose it is', async () => {
    await fetched()
    scene.moveRow()
    scene.oldLive.kill()
    await scene.oldLive.written()
    await scene.newLive.agent.moves.take(instance)
    scene.old.placeOf = undefined
    const live = await scene.openOld()
    const sweep = sweepOf(live)
    assert.deepEqual(await sweep.sweep({ wasLost: true }), [])
    assert.deepEqual([complete()[0], recordOf(live)?.move?.role], [true, 'old'])
    scene.old.placeOf = new Map([[volumeUuid, 'elsewhere']])
    assert.deepEqual(await sweep.sweep({ wasLost: true }), [uuid])
    assert.deepEqual([complete(), oldVolumes().overwritten], [[false, true], [volumeUuid]])
    assert.equal(await contentAt('new'), precious)
  })

  for (const late of ['the word of its new host', 'the sweep'] as const)
    it(`is left alone by ${late} if it has moved back before the API answers`, async () => {
      await fetched()
      const from = recordOf(scene.newLive)?.move
      assert.ok(from?.role === 'new')
      scene.moveRow()
      const { transfers } = scene.newLive.ports
      assert.ok(transfers !== undefined)
      const { tellTaken } = transfers
      transfers.tellTaken = async () => await Promise.resolve()
      await scene.newLive.agent.moves.take(instance)
      const hold = { instanceUuid: uuid, holdUuid: from.holdUuid }
      const { launches } = scene.oldLive.ports
      const { placeOfVolume } = launches
      const answer = Promise.withResolvers<'elsewhere'>()
      const asked = Promise.withResolvers<undefined>()
      launches.placeOfVolume = async () => {
        launches.placeOfVolume = placeOfVolume
        asked.resolve(undefined)
        return await answer.promise
      }
      const tell = async () => await tellTaken(from.from, hold, AbortSignal.timeout(10_000))
      const sweep = async () => await sweepOf(scene.oldLive).sweep({ wasLost: true })
      const ends = late === 'the sweep' ? [sweep, tell] : [tell, sweep]
      const ending = ends[0]!()
      await asked.promise
      await ends[1]!()
      assert.deepEqual([complete(), scene.oldLive.agent.entries.size], [[false, true], 0])
      await scene.moveBack()
      assert.deepEqual([complete()[0], holders()[0], await contentAt('old')], [true, uuid, precious])
      answer.resolve('elsewhere')
      await ending
      assert.deepEqual([complete()[0], holders()[0], await contentAt('old')], [true, uuid, precious])
      assert.ok(recordOf(scene.oldLive) !== undefined)
    })

  it('is overwritten at the word of its new host if it was deleted there meanwhile', async () => {
    await fetched()
    scene.moveRow()
    scene.old.placeOf = new Map()
    await scene.newLive.agent.moves.take(instance)
    await scene.oldHasNothing()
    assert.deepEqual([complete()[0], oldVolumes().overwritten], [false, [volumeUuid]])
  })

  for (const [what, place] of [
    ['whose volume it still is', 'here'],
    ['where the API knows no such volume', 'nowhere'],
  ] as const)
    it(`stays, free, at an old host ${what}, when its instance is gone`, async () => {
      await fetched()
      scene.old.placeOf = new Map([[volumeUuid, place]])
      const sweep = sweepOf(scene.oldLive)
      assert.deepEqual(await sweep.sweep({ wasLost: true }), [uuid])
      assert.deepEqual([complete()[0], holders()[0], oldVolumes().overwritten], [true, undefined, []])
    })

  it('is kept by the new host while the old one holds it, and dropped when the move has failed', async () => {
    await fetched()
    const sweep = sweepOf(scene.newLive)
    assert.deepEqual(await sweep.sweep({ wasLost: true }), [])
    assert.ok(newVolumes().waiting.has(volumeUuid))
    await scene.oldLive.agent.moves.release(instance)
    assert.deepEqual(await sweep.sweep({ wasLost: true }), [uuid])
    assert.deepEqual([newVolumes().waiting.size, newVolumes().overwritten], [0, [volumeUuid]])
    assert.deepEqual([complete(), await contentAt('old')], [[true, false], precious])
  })

  it('is never dropped once its row names this host, whatever became of its instance', async () => {
    await fetched()
    scene.moveRow()
    await scene.newLive.agent.remove(instance)
    assert.ok(newVolumes().waiting.has(volumeUuid))
    scene.new.placeOf = undefined
    await sweepOf(scene.newLive).sweep()
    assert.ok(newVolumes().waiting.has(volumeUuid))
    scene.new.placeOf = new Map([[volumeUuid, 'here']])
    await sweepOf(scene.newLive).sweep()
    assert.deepEqual([complete()[1], holders()[1], await contentAt('new')], [true, undefined, precious])
  })

  it('is not fetched again by a host to which its row belongs already', async () => {
    await fetched()
    scene.moveRow()
    await scene.newLive.agent.clear(instance)
    const place = recordOf(scene.oldLive)?.move
    assert.ok(place?.role === 'old' && place.port !== undefined)
    await assert.rejects(scene.fetch(place.port), /is on this host already/)
    assert.ok(newVolumes().waiting.has(volumeUuid))
  })

  it('is not said to be taken, and stays at the old host, while it is not at the new one', async () => {
    await fetched()
    await newVolumes().dropArrival(volumeUuid)
    scene.moveRow()
    await assert.rejects(scene.newLive.agent.moves.take(instance), /is not here/)
    assert.deepEqual([recordOf(scene.newLive)?.move?.role, newVolumes().held.size], ['new', 0])
    assert.deepEqual([complete()[0], await contentAt('old')], [true, precious])
  })

  it('can be had by another instance at the new host, if it was given to that before it was taken', async () => {
    await fetched()
    scene.moveRow()
    scene.new.attach(otherUuid, { sizeMb: 1, made: true })
    await scene.newLive.agent.start({ instanceUuid: otherUuid, boot: 1 })
    assert.deepEqual([holders()[1], await contentAt('new')], [otherUuid, precious])
    const told = scene.new.specs.get(uuid)
    assert.ok(told !== undefined)
    const { volume: _given, ...without } = told
    scene.new.specs.set(uuid, without)
    await scene.newLive.agent.moves.take(instance)
    assert.equal(holders()[1], otherUuid)
  })

  it('is held by its instance after a stop that could ask no API, and goes on from the sweep', async () => {
    const port = await atRest()
    await scene.openNew()
    await scene.fetch(port, { rest: stopped })
    scene.moveRow()
    const told = scene.new.specs.get(uuid)
    scene.new.specs.delete(uuid)
    await scene.newLive.agent.stop(stop)
    assert.equal(recordOf(scene.newLive)?.move, undefined)
    await scene.openNew()
    assert.ok(newVolumes().waiting.has(volumeUuid))
    if (told !== undefined) scene.new.specs.set(uuid, told)
    await sweepOf(scene.newLive, [uuid]).sweep()
    assert.deepEqual([complete()[1], holders()[1]], [true, undefined])
    await seen('the old host has nothing', () => !scene.oldLive.agent.entries.has(uuid))
    await scene.newLive.agent.start({ ...instance, boot: 2 })
    assert.equal(await contentAt('new'), precious)
  })
})
