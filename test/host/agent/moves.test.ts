import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { HostStartError } from '../../../src/host/instance/host-start-error.ts'
import { runs } from '../../../src/host/instance/record.ts'
import { TransferClient } from '../../../src/host/moves/transfer-client.ts'
import { pass, seen, TestGateway } from '../leases/gateway.ts'
import { instance, MoveScene, newPlace, oldPlace, seat, slept } from './move-scene.ts'
import { otherUuid, uuid, volumeUuid } from './machine.ts'
import type { LiveAgent } from './machine.ts'

const directoryOf = (live: LiveAgent): string => live.ports.store.directory(uuid)
const recordOf = (live: LiveAgent) => live.agent.entries.get(uuid)?.record

describe('an instance that moves between two hosts', function () {
  this.timeout(60_000)
  let scene: MoveScene

  beforeEach(async () => {
    scene = await MoveScene.make()
  })
  afterEach(async () => {
    await scene.remove()
  })

  it('goes on from its memory at the new host, with its log, and the old host has nothing any more', async () => {
    await scene.asleep()
    const port = await scene.hold()
    assert.deepEqual([...scene.old.network.openedTo], [[port, [newPlace.address]]])
    await scene.openNew()
    assert.deepEqual(await scene.fetch(port), { memory: 'kept' })
    assert.deepEqual(scene.phases(), ['held', 'held'])
    assert.deepEqual([...scene.new.network.resting], [])
    scene.moveRow()
    await scene.newLive.agent.moves.take(instance)
    await scene.oldHasNothing()
    assert.ok(scene.oldLive.agent.hasRemoved(uuid), 'the old host does not miss it')
    assert.equal(existsSync(directoryOf(scene.oldLive)), false)
    assert.deepEqual(scene.old.network.openedTo.get(port), [])
    assert.deepEqual([...scene.new.network.resting], [scene.spec.privateIp])
    const opened = await new TestGateway(scene.newLive).connect().opened()
    assert.deepEqual([opened.boot, opened.memoryBoot, opened.woken?.kind], [2, 1, 'restore'])
    assert.equal(recordOf(scene.newLive)?.nic.seat, seat)
    const log = await readFile(join(directoryOf(scene.newLive), 'console', `${'0'.repeat(16)}.log`), 'utf8')
    assert.match(log, /hello\n$/)
    assert.equal(scene.old.host.running() + scene.new.host.running(), 1)
  })

  it('that runs is held as soon as it sleeps, and the start at the new host takes it', async () => {
    const { agent } = await scene.openOld()
    await agent.start({ ...instance, boot: 1 })
    const gateway = new TestGateway(scene.oldLive).connect()
    await gateway.opened()
    const order = { ...slept, epoch: 7, stateful: true, graceMs: 0, drainMs: 0, hold: newPlace }
    const sleep = agent.standBy(order)
    await gateway.next('rest')
    gateway.giveBack()
    assert.equal((await sleep).slept, true)
    gateway.open()
    assert.deepEqual(scene.phases(), ['held', undefined])
    const port = await scene.hold()
    await scene.openNew()
    await scene.fetch(port)
    scene.moveRow()
    const { started } = await scene.newLive.agent.start({ ...instance, boot: 2 })
    assert.deepEqual([started.boot, started.kind], [2, 'restore'])
    assert.equal(scene.new.network.attached.get(scene.spec.privateIp)?.nic.seat, seat)
    await scene.oldHasNothing()
    assert.deepEqual(
      gateway.heard.filter(({ kind }) => kind === 'gone' || kind === 'refused'),
      [],
      'the connections of the gateway go on at the new host',
    )
  })

  it('is given to no machine but the new host, and to nobody any more once it is released', async () => {
    await scene.asleep()
    const port = await scene.hold()
    const from = { ...oldPlace, port }
    const signal = AbortSignal.timeout(10_000)
    const path = join(scene.new.directory, 'stolen')
    const { holdUuid = '' } = recordOf(scene.oldLive)?.move ?? {}
    const file = { name: 'snapshot/snapshot.json', bytes: 10 }
    const refused = async (client: TransferClient) => {
      await assert.rejects(client.copyOf(from, uuid, signal), /does not hold/)
      await assert.rejects(
        client.fetchFile({ from, instanceUuid: uuid, file, path }, signal),
        /does not hold/,
      )
      await client.tellTaken(from, { instanceUuid: uuid, holdUuid }, signal)
      assert.ok(existsSync(directoryOf(scene.oldLive)))
    }
    await refused(new TransferClient('127.0.0.4'))
    assert.equal(scene.phases()[0], 'held')
    await scene.oldLive.agent.moves.release(instance)
    await refused(new TransferClient(newPlace.address))
  })

  it('and another that is held at the same time are fetched at one port, by their own hosts', async () => {
    await scene.asleep()
    const { moves } = scene.oldLive.agent
    const third = { nodeId: 'third', address: '127.0.0.4' }
    const both = await Promise.all([
      moves.hold({ ...slept, to: newPlace }),
      moves.hold({ instanceUuid: otherUuid, boot: 0, to: third }),
    ])
    const ports = new Set(both.map((held) => held.held && held.port))
    assert.equal(ports.size, 1)
    const [addresses, ...more] = scene.old.network.openedTo.values()
    assert.deepEqual([addresses?.toSorted(), more], [[newPlace.address, third.address], []])
    await moves.release({ instanceUuid: otherUuid })
    await seen('the third one may not', () => scene.old.network.openedTo.values().next().value?.length === 1)
  })

  it('is woken by nobody while it is held, and by those who waited once it is released', async () => {
    await scene.asleep()
    await scene.hold()
    const gateway = new TestGateway(scene.oldLive).connect()
    const opened = gateway.opened()
    scene.old.network.sendFromPeer(scene.spec.privateIp)
    pass(scene.old, scene.oldLive, 60_000)
    assert.deepEqual(scene.phases()[0], 'held')
    assert.equal(scene.old.host.running(), 0)
    const view = scene.oldLive.agent.leases.hostLease(uuid)
    assert.deepEqual([view?.phase, view?.awake, view?.permit], ['held', false, 2])
    await scene.oldLive.agent.moves.release(instance)
    assert.equal((await opened).woken?.kind, 'restore')
  })

  it('is held on by the next agents of both hosts, and fetched at the same port', async () => {
    await scene.asleep()
    const port = await scene.hold()
    await scene.openOld()
    assert.deepEqual(scene.phases(), ['held', undefined])
    await scene.openNew()
    await seen('it can be fetched', () => scene.old.network.openedTo.has(port))
    await scene.fetch(port)
    await scene.openNew()
    assert.deepEqual(scene.phases(), ['held', 'held'])
    assert.deepEqual(await scene.fetch(port), { memory: 'kept' })
    assert.equal(await scene.hold(), port)
  })

  it('is not fetched again, but anew after it has run on at the old host', async () => {
    await scene.asleep()
    const port = await scene.hold()
    await scene.openNew()
    await scene.fetch(port)
    const { holdUuid } = recordOf(scene.newLive)?.move ?? {}
    await scene.fetch(port)
    assert.equal(recordOf(scene.newLive)?.move?.holdUuid, holdUuid)
    const { agent } = scene.oldLive
    await agent.moves.release(instance)
    await agent.change({ ...instance, version: 1, scaleToZero: scene.spec.scaleToZero, renew: true })
    await scene.hold()
    assert.deepEqual(await scene.fetch(port), { memory: 'none' })
    assert.notEqual(recordOf(scene.newLive)?.move?.holdUuid, holdUuid)
    assert.equal(existsSync(join(directoryOf(scene.newLive), 'snapshot')), false)
  })

  it('that loses its memory while it is held is fetched anew', async () => {
    await scene.asleep()
    const port = await scene.hold()
    await scene.openNew()
    await scene.fetch(port)
    const change = { ...instance, version: 1, scaleToZero: scene.spec.scaleToZero, renew: true }
    assert.deepEqual(await scene.oldLive.agent.change(change), { renewed: true })
    assert.equal(scene.phases()[0], 'held')
    assert.deepEqual(await scene.fetch(port), { memory: 'none' })
  })

  it('that changes while it is fetched is not taken for what it was', async () => {
    await scene.asleep()
    const { agent } = scene.oldLive
    const change = { ...instance, version: 1, scaleToZero: scene.spec.scaleToZero, renew: true }
    await agent.change(change)
    const port = await scene.hold()
    const pulled = Promise.withResolvers<undefined>()
    await scene.openNew({ images: { pull: async () => await pulled.promise } })
    const fetching = scene.fetch(port)
    fetching.catch(() => undefined)
    await seen('it is under way', () => scene.newLive.agent.moves.isFetching(uuid))
    await new Promise((resolve) => setTimeout(resolve, 200))
    await agent.change({ ...change, version: 2 })
    pulled.resolve(undefined)
    await assert.rejects(fetching, /it changed on host old meanwhile/)
    assert.equal(scene.newLive.agent.entries.has(uuid), false)
    assert.deepEqual(await scene.fetch(port), { memory: 'none' })
  })

  it('is fetched by one of several orders at a time, and the latest one counts', async () => {
    await scene.asleep()
    const port = await scene.hold()
    const { transfers } = (await scene.openNew()).ports
    assert.ok(transfers !== undefined)
    const { copyOf } = transfers
    let [running, most] = [0, 0]
    transfers.copyOf = async (from, each, signal) => {
      running += 1
      most = Math.max(most, running)
      return await copyOf(from, each, signal).finally(() => (running -= 1))
    }
    const orders = [3, 4].map(async (permit) => await scene.fetch(port, { rest: { boot: 1, permit } }))
    const results = await Promise.allSettled([...orders, scene.fetch(port)])
    assert.deepEqual(
      results.map(({ status }) => status),
      ['rejected', 'rejected', 'fulfilled'],
    )
    assert.equal(most, 1)
  })

  it('begins afresh where its memory does not fit, and the memory is not fetched', async () => {
    await scene.asleep()
    const port = await scene.hold()
    await scene.openNew({ vmm: { unfitSnapshots: true } })
    assert.deepEqual(await scene.fetch(port), { memory: 'unfit', why: 'the processor is another one' })
    assert.equal(existsSync(join(directoryOf(scene.newLive), 'snapshot')), false)
    const { standby } = recordOf(scene.newLive) ?? {}
    assert.deepEqual([standby?.snapshotUuid, standby?.stateful], [undefined, false])
    scene.moveRow()
    await scene.newLive.agent.moves.take(instance)
    const opened = await new TestGateway(scene.newLive).connect().opened()
    assert.deepEqual([opened.boot, opened.memoryBoot, opened.woken?.kind], [2, 2, 'boot'])
  })

  it('begins afresh where its root disk has other bytes', async () => {
    await scene.asleep({ images: { rootfsPath: import.meta.filename } })
    const port = await scene.hold()
    await scene.openNew({ images: { rootfsPath: join(import.meta.dirname, 'move-scene.ts') } })
    const fetched = await scene.fetch(port)
    assert.deepEqual(fetched, { memory: 'unfit', why: 'the image was unpacked in another way there' })
    await scene.openNew({ images: { rootfsPath: import.meta.filename } })
    await scene.newLive.agent.clear(instance)
    assert.deepEqual(await scene.fetch(port), { memory: 'kept' })
  })

  it('keeps its memory if the image can not be had now: the move fails, and goes on when it can', async () => {
    await scene.asleep()
    const port = await scene.hold()
    await scene.openNew({ images: { fail: { nth: 1, failure: 'ImageUnavailable' } } })
    await assert.rejects(scene.fetch(port), /the image fails as asked/)
    assert.equal(scene.newLive.agent.entries.has(uuid), false)
    assert.deepEqual(await scene.fetch(port), { memory: 'kept' })
  })

  it('is not fetched by the host that holds it, which would delete the only copy', async () => {
    await scene.asleep()
    const { oldLive } = scene
    const held = await oldLive.agent.moves.hold({ ...slept, to: oldPlace })
    assert.ok(held.held)
    const from = { ...oldPlace, port: held.port }
    await assert.rejects(oldLive.agent.moves.fetch({ ...slept, from }), /holds the instance for a move/)
    assert.ok(existsSync(join(directoryOf(oldLive), 'snapshot')))
  })

  it('that is stopped moves, too, and so does one that never ran', async () => {
    for (const boot of [0, 1]) {
      const { agent } = await scene.openOld()
      if (boot === 1) {
        await agent.start({ ...instance, boot })
        await agent.stop({ ...instance, boot, forced: true, graceMs: 0 })
      }
      const held = await agent.moves.hold({ ...instance, boot, to: newPlace })
      assert.ok(held.held)
      const { moves } = (await scene.openNew()).agent
      const from = { ...oldPlace, port: held.port }
      assert.deepEqual(await moves.fetch({ ...instance, boot, from }), { memory: 'none' })
      scene.moveRow()
      await moves.take(instance)
      await scene.oldHasNothing()
      const { started } = await scene.newLive.agent.start({ ...instance, boot: boot + 1 })
      assert.equal(started.boot, boot + 1)
      await scene.newLive.agent.remove(instance)
      await scene.remove()
      scene = await MoveScene.make()
    }
  })

  it('is taken by a stop at the new host: nothing is kept for a wake, and the old host has nothing', async () => {
    await scene.asleep()
    const port = await scene.hold()
    await scene.openNew()
    await scene.fetch(port)
    scene.moveRow()
    await scene.newLive.agent.stop({ ...instance, boot: 2, forced: false, graceMs: 0 })
    await scene.oldHasNothing()
    assert.equal(existsSync(join(directoryOf(scene.newLive), 'snapshot')), false)
    assert.deepEqual([scene.phases()[1], recordOf(scene.newLive)?.move], ['none', undefined])
  })

  it('a start, a stop and a removal at the old host end the hold', async () => {
    for (const ends of ['start', 'stop', 'remove'] as const) {
      await scene.asleep()
      const port = await scene.hold()
      const { agent } = scene.oldLive
      if (ends === 'start')
        assert.equal((await agent.start({ ...instance, boot: 2 })).started.kind, 'restore')
      if (ends === 'stop') await agent.stop({ ...instance, boot: 2, forced: false, graceMs: 0 })
      if (ends === 'remove') await agent.remove(instance)
      assert.equal(recordOf(scene.oldLive)?.move, undefined, ends)
      await seen('nobody may fetch it', () => scene.old.network.openedTo.get(port)?.length === 0)
      await scene.openNew()
      await assert.rejects(scene.fetch(port), /does not hold the instance for this host/)
      await scene.remove()
      scene = await MoveScene.make()
    }
  })

  it('a stop of a stopped instance ends its hold, and a stop of an earlier boot does not', async () => {
    await scene.asleep()
    await scene.hold()
    const { agent } = scene.oldLive
    await agent.stop({ ...instance, boot: 1, forced: false, graceMs: 0 })
    assert.deepEqual([recordOf(scene.oldLive)?.move?.role, scene.phases()[0]], ['old', 'held'])
    await agent.stop({ ...instance, boot: 2, forced: false, graceMs: 0 })
    assert.ok((await agent.moves.hold({ ...instance, boot: 2, to: newPlace })).held)
    await agent.stop({ ...instance, boot: 2, forced: false, graceMs: 0 })
    assert.equal(recordOf(scene.oldLive)?.move, undefined)
  })

  it('is not held if it runs, wakes or sleeps with another permit', async () => {
    const { agent } = await scene.openOld()
    await agent.start({ ...instance, boot: 1 })
    assert.deepEqual(await agent.moves.hold({ ...slept, to: newPlace }), { held: false })
    assert.deepEqual(await agent.moves.hold({ ...instance, boot: 1, to: newPlace }), { held: false })
    await scene.asleep()
    const late = { ...instance, boot: 3, permit: 4, to: newPlace }
    assert.deepEqual(await scene.oldLive.agent.moves.hold(late), { held: false })
    await new TestGateway(scene.oldLive).connect().opened()
    assert.deepEqual(await scene.oldLive.agent.moves.hold({ ...slept, to: newPlace }), { held: false })
    assert.ok(runs(recordOf(scene.oldLive)))
  })

  it('stays where it is with a volume that is not to move, and on a host without a mesh', async () => {
    scene.old.attach(uuid)
    await scene.asleep()
    await assert.rejects(scene.hold(), (error) => error instanceof HostStartError && error.final)
    assert.ok(scene.old.volumes.held.has(volumeUuid))
    scene.new.meshAddress = undefined
    const { moves } = (await scene.openNew()).agent
    await assert.rejects(moves.hold({ ...slept, to: newPlace }), /takes part in no mesh/)
    await assert.rejects(scene.fetch(1), /takes part in no mesh/)
  })

  it('a fetch is called off by a removal and leaves nothing', async () => {
    await scene.asleep()
    const port = await scene.hold()
    await scene.openNew({ images: { pull: async () => await new Promise(() => undefined) } })
    const fetching = scene.fetch(port)
    fetching.catch(() => undefined)
    await seen('it is under way', () => scene.newLive.agent.moves.isFetching(uuid))
    await scene.newLive.agent.remove(instance)
    await assert.rejects(fetching)
    assert.deepEqual(await readdir(join(scene.new.directory, 'instances')), [])
    assert.equal(scene.newLive.agent.entries.has(uuid), false)
  })

  it('keeps what it is launched with to itself: the API is asked for its place, and the row has to name the host', async () => {
    await scene.asleep()
    const port = await scene.hold()
    const { moves } = (await scene.openNew()).agent
    await scene.fetch(port)
    await assert.rejects(moves.take(instance), /it is not placed here/)
    assert.deepEqual(scene.phases(), ['held', 'held'])
    const { launch } = scene.newLive.agent.entries.get(uuid) ?? {}
    assert.deepEqual([launch?.spec.env, launch?.spec.seatIp], [{ SECRET: 'hush' }, undefined])
    scene.moveRow()
    await moves.take(instance)
    assert.equal(scene.newLive.agent.entries.get(uuid)?.launch?.spec.seatIp, seat)
    await moves.take(instance)
  })
})
