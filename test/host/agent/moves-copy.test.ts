import assert from 'node:assert/strict'
import { open, readFile } from 'node:fs/promises'
import { randomBytes } from 'node:crypto'
import { VolumeCopies } from '../../../src/host/agent/volume-copies.ts'
import { arrivalOf } from '../../../src/host/fakes/fake-volumes.ts'
import { HostStartError } from '../../../src/host/instance/host-start-error.ts'
import { volumeFileName } from '../../../src/host/moves/held-copy.ts'
import { pass } from '../leases/gateway.ts'
import { until } from '../../support/until.ts'
import { instance, MoveScene, newPlace, oldPlace, slept } from './move-scene.ts'
import { otherUuid, uuid, volumeUuid } from './machine.ts'
import type { LiveAgent } from './machine.ts'

const running = { ...instance, boot: 1 }
const volume = { uuid: volumeUuid, sizeMb: 1 }
const order = { ...slept, epoch: 9, stateful: true, graceMs: 0, drainMs: 0 }

describe('a volume that is copied while its instance runs', function () {
  this.timeout(60_000)
  let scene: MoveScene
  /** The files that the new host fetched. */
  let fetched: string[]

  beforeEach(async () => {
    scene = await MoveScene.make({ hasVolume: true })
    fetched = []
    await scene.makeVolume()
    await scene.openOld()
    await scene.oldLive.agent.start(running)
    await openNew()
  })
  afterEach(async () => {
    await scene.remove()
  })

  async function openNew(): Promise<LiveAgent> {
    const live = await scene.openNew()
    const { transfers } = live.ports
    assert.ok(transfers !== undefined)
    const { fetchFile } = transfers
    transfers.fetchFile = async (wanted, signal) => {
      fetched.push(wanted.file.name)
      return await fetchFile(wanted, signal)
    }
    return live
  }

  async function offer(to = newPlace): Promise<number> {
    const offered = await scene.oldLive.agent.moves.offer({ ...running, to, volume })
    assert.ok(offered.offered)
    return offered.port
  }

  async function copy(port: number, live = scene.newLive): Promise<void> {
    await live.agent.moves.copy({ ...running, from: { ...oldPlace, port }, volume })
  }

  /** The VM writes to its volume. */
  async function write(at: number): Promise<void> {
    const data = randomBytes(100)
    await using file = await open(scene.old.volumes.contentOf(volumeUuid), 'r+')
    await file.write(data, 0, data.length, at)
    scene.old.host.find(running)?.mirror?.write(at, data)
  }

  /** The order to stand by with a hold, and the fetch. */
  async function sleepAndFetch(): Promise<void> {
    const hold = { hold: newPlace, volume }
    assert.equal((await scene.oldLive.agent.standBy({ ...order, ...hold })).slept, true)
    await finish()
  }

  async function finish(): Promise<void> {
    const content = await readFile(scene.old.volumes.contentOf(volumeUuid))
    const port = await scene.hold()
    assert.deepEqual(await scene.fetch(port), { memory: 'kept', volumeUuid })
    scene.moveRow()
    await scene.newLive.agent.moves.take(instance)
    await scene.oldHasNothing()
    assert.ok((await readFile(scene.new.volumes.contentOf(volumeUuid))).equals(content))
    assert.deepEqual(scene.old.volumes.overwritten, [volumeUuid])
  }

  const wasFetched = () => fetched.includes(volumeFileName)
  const runs = () => scene.old.host.find(running)?.exit === undefined && scene.old.host.running(uuid) === 1
  const nothingArrives = async () =>
    await until('nothing is left at the new host', () => scene.new.volumes.arriving.size === 0, {
      limitMs: 5_000,
    })

  it('is not fetched again with what the VM wrote until it fell asleep', async () => {
    await write(10)
    await copy(await offer())
    await write(500_000)
    await write(20)
    await sleepAndFetch()
    assert.equal(wasFetched(), false)
  })

  it('is offered and copied once if it is asked for twice', async () => {
    const port = await offer()
    await copy(port)
    assert.equal(await offer(), port)
    await sleepAndFetch()
    assert.equal(wasFetched(), false)
  })

  it('is given up when the move is called off, and the instance runs on', async () => {
    await copy(await offer())
    await scene.oldLive.agent.moves.release(instance)
    await nothingArrives()
    assert.ok(runs())
    await assert.rejects(copy(await offer(oldPlace)), HostStartError)
    await sleepAndFetch()
    assert.equal(wasFetched(), true)
  })

  it('is given up when the new host is told to, and fetched as a whole', async () => {
    await copy(await offer())
    await scene.newLive.agent.moves.callOffCopy({ ...running, from: { ...oldPlace, port: 1 }, volume })
    await nothingArrives()
    await sleepAndFetch()
    assert.equal(wasFetched(), true)
  })

  it('is fetched as a whole if the new host has another agent by then', async () => {
    await copy(await offer())
    await openNew()
    await sleepAndFetch()
    assert.equal(wasFetched(), true)
  })

  it('is fetched as a whole if the old host has another agent by then', async () => {
    await copy(await offer())
    await scene.openOld()
    await nothingArrives()
    // The gateways of before had time to come back.
    pass(scene.old, scene.oldLive, 60_000)
    await sleepAndFetch()
    assert.equal(wasFetched(), true)
  })

  it('is fetched as a whole if the instance ran again after the copy', async () => {
    await copy(await offer())
    assert.equal((await scene.oldLive.agent.standBy(order)).slept, true)
    await scene.oldLive.agent.start({ ...instance, boot: 2 })
    await write(300)
    const again = { ...order, boot: 2, permit: 3, hold: newPlace, volume }
    assert.equal((await scene.oldLive.agent.standBy(again)).slept, true)
    const content = await readFile(scene.old.volumes.contentOf(volumeUuid))
    const rest = { boot: 2, permit: 3 }
    await scene.fetch(await scene.hold(rest), { rest })
    assert.equal(wasFetched(), true)
    scene.moveRow()
    await scene.newLive.agent.moves.take(instance)
    assert.ok((await readFile(scene.new.volumes.contentOf(volumeUuid))).equals(content))
  })

  it('is fetched as a whole if the instance ran again after the copy, and ended', async () => {
    await copy(await offer())
    assert.equal((await scene.oldLive.agent.standBy(order)).slept, true)
    const second = { ...instance, boot: 2 }
    await scene.oldLive.agent.start(second)
    await write(300)
    await scene.oldLive.agent.stop({ ...second, forced: true, graceMs: 0 })
    const content = await readFile(scene.old.volumes.contentOf(volumeUuid))
    const rest = { boot: 2 }
    await scene.fetch(await scene.hold(rest), { rest })
    assert.equal(wasFetched(), true)
    assert.ok((await readFile(arrivalOf(scene.new.volumes.contentOf(volumeUuid)))).equals(content))
  })

  it('is fetched as a whole if a wake after the copy failed, which may have written to it', async () => {
    await scene.openOld({ vmm: { failStart: 1 } })
    pass(scene.old, scene.oldLive, 60_000)
    await copy(await offer())
    assert.equal((await scene.oldLive.agent.standBy(order)).slept, true)
    await assert.rejects(scene.oldLive.agent.start({ ...instance, boot: 2 }))
    await scene.fetch(await scene.hold())
    assert.equal(wasFetched(), true)
  })

  it('that comes late takes nothing away from what has arrived', async () => {
    const port = await offer()
    const { launches } = scene.newLive.ports
    const { placeOfVolume } = launches
    const isFetched = Promise.withResolvers<void>()
    launches.placeOfVolume = async (each) => {
      const place = await placeOfVolume(each)
      launches.placeOfVolume = placeOfVolume
      await isFetched.promise
      return place
    }
    const input = { ...running, from: { ...oldPlace, port }, volume }
    const late = scene.newLive.agent.moves.copy(input)
    late.catch(() => undefined)
    const calledOff = scene.newLive.agent.moves.callOffCopy(input)
    const hold = { hold: newPlace, volume }
    assert.equal((await scene.oldLive.agent.standBy({ ...order, ...hold })).slept, true)
    const fetch = scene.fetch(await scene.hold())
    isFetched.resolve()
    await Promise.all([assert.rejects(late), calledOff])
    assert.deepEqual(await fetch, { memory: 'kept', volumeUuid })
    await assert.rejects(scene.newLive.agent.moves.copy(input), HostStartError)
    assert.deepEqual(await scene.new.volumes.arrived(), [volumeUuid])
    assert.deepEqual(scene.new.volumes.overwritten, [])
  })

  it('is dropped after a while if no fetch takes it', async () => {
    const port = await offer()
    const { ports, agent } = scene.newLive
    const { volumes } = agent.moves
    const copies = new VolumeCopies({ ports, volumes, isFetching: () => false, keepMs: 100 })
    await copies.copy({ ...running, from: { ...oldPlace, port }, volume }, agent.moves.requireMesh())
    assert.equal((await scene.oldLive.agent.standBy(order)).slept, true)
    await nothingArrives()
  })

  it('may sleep by itself before it is held, and is not fetched again', async () => {
    await copy(await offer())
    await write(7)
    assert.equal((await scene.oldLive.agent.standBy(order)).slept, true)
    await finish()
    assert.equal(wasFetched(), false)
  })

  it('is given up if its VM ends', async () => {
    await copy(await offer())
    await scene.oldLive.agent.stop({ ...running, forced: true, graceMs: 0 })
    await nothingArrives()
  })

  it('is not offered while that boot does not run, and not with another volume', async () => {
    const { moves } = scene.oldLive.agent
    const other = { ...instance, boot: 2, to: newPlace, volume }
    assert.deepEqual(await moves.offer(other), { offered: false })
    assert.deepEqual(await moves.offer({ ...other, instanceUuid: otherUuid }), { offered: false })
    const wrong = { ...running, to: newPlace, volume: { uuid: otherUuid, sizeMb: 1 } }
    await assert.rejects(moves.offer(wrong), HostStartError)
  })

  it('is not copied to the host that the row names', async () => {
    const port = await offer()
    scene.new.placeOf?.set(volumeUuid, 'here')
    await assert.rejects(copy(port), HostStartError)
    assert.equal(scene.new.volumes.arriving.size, 0)
    scene.new.placeOf?.set(volumeUuid, 'elsewhere')
    await copy(port)
    await sleepAndFetch()
    assert.equal(wasFetched(), false)
  })
})
