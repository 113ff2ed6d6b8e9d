import { strict as assert } from 'node:assert'
import { insertInstances } from '../../../src/db/instance/create.ts'
import type { NewInstances } from '../../../src/db/instance/new-instances.ts'
import { createVolume } from '../../../src/db/volume/create.ts'
import { openDatabase } from '../../../src/db/database.ts'
import type { Database } from '../../../src/db/database.ts'
import { markVolumeDeleted } from '../../../src/db/volume/delete.ts'
import { listInstances, markDeleted } from '../../../src/db/instance/instances.ts'
import { overlookNodes, removeNode } from '../../../src/db/host/administration.ts'
import { findNode } from '../../../src/db/host/hosts.ts'
import { removeInstanceRow } from '../../../src/db/instance/records.ts'
import type { UserRecord } from '../../../src/db/account/users.ts'
import { recordVolume, removeVolumeRow } from '../../../src/db/volume/records.ts'
import { findDeletedVolume, listVolumes } from '../../../src/db/volume/volumes.ts'
import { VolumePhase } from '../../../src/domain/volume/state.ts'
import { addNode, addUser, testSecretBox, wantedInstance } from '../../support/accounts.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import type { TestDatabase } from '../../support/postgres.ts'
import { refusalOf, testMount as mount } from '../../support/volume-records.ts'

describe('volumes and hosts', () => {
  let own: TestDatabase
  let database: Database
  let user: UserRecord
  beforeEach(async () => {
    own = await createTestDatabase()
    database = await openDatabase({ url: own.url, applicationName: 'volume hosts', poolSize: 20 })
    user = await newUser('ann')
  })
  afterEach(async () => {
    await database.close()
    await own.drop()
  })

  const newUser = (name: string) => addUser(database, { name, hard: { totalVolumeMb: 1_000_000 } })
  const addHosts = async (hosts: Readonly<Record<string, readonly [memoryMb: number, volumeMb: number]>>) => {
    for (const [id, [memoryMb, volumeMb]] of Object.entries(hosts)) {
      await addNode(database, { id, memoryMb, volumeMb })
    }
  }
  const silence = (id: string) =>
    database.db
      .updateTable('nodes')
      .set({ heartbeatAt: new Date(0) })
      .where('id', '=', id)
      .execute()
  const create = (sizeMb: number, owner = user) =>
    createVolume({ database }, { userUuid: owner.uuid, sizeMb })
  const created = async (sizeMb: number) => {
    const outcome = await create(sizeMb)
    assert.ok(outcome.ok, JSON.stringify(outcome))
    return outcome.volume
  }
  const createWith = (more: Partial<NewInstances>, owner = user) =>
    insertInstances({ database, secretBox: testSecretBox }, wantedInstance(owner, more))
  const hostsOf = async (more: Partial<NewInstances>) => {
    const outcome = await createWith(more)
    assert.ok(outcome.ok, JSON.stringify(outcome))
    return outcome.instances.map(({ nodeId }) => nodeId)
  }
  const made = (sizeMb: number) => ({ volume: { made: { sizeMb }, mount } })
  const noRoom = (sizeMb: number, count: number, roomiestMb: number) => {
    return { kind: 'no-volume-room', sizeMb, count, roomiestMb }
  }

  it('bring a volume to the host that has the largest share of its room left with it', async () => {
    await addHosts({ a: [100, 100], b: [1_000, 70], c: [10, 90] })
    const hosts = []
    for (const sizeMb of [20, 20, 20, 20]) hosts.push((await created(sizeMb)).nodeId)
    assert.deepEqual(hosts, ['a', 'c', 'b', 'a'])
  })

  it('give no more room than they have, and say how much that is', async () => {
    await addHosts({ a: [100, 50], b: [100, 30] })
    assert.deepEqual(refusalOf(await create(51)), noRoom(51, 1, 50))
    await created(50)
    assert.deepEqual(refusalOf(await create(31)), noRoom(31, 1, 30))
    await created(30)
    assert.deepEqual(refusalOf(await create(8)), noRoom(8, 1, 0))
  })

  it('have no room if their disk shrank below the room that is promised', async () => {
    await addHosts({ a: [100, 100] })
    await created(90)
    await addHosts({ a: [100, 50] })
    assert.equal((await findNode({ database, secretBox: testSecretBox }, 'a'))?.volumeMb, 50)
    assert.deepEqual(refusalOf(await create(8)), noRoom(8, 1, 0))
    assert.deepEqual(refusalOf(await createWith(made(8))), noRoom(8, 1, 0))
  })

  it('have the room of a deleted volume again once nothing is left of it', async () => {
    await addHosts({ a: [100, 50] })
    const { uuid } = await created(50)
    await markVolumeDeleted(database, user.uuid, uuid)
    assert.deepEqual(refusalOf(await create(8)), noRoom(8, 1, 0))
    await removeVolumeRow(database, uuid)
    await created(50)
  })

  it('that are silent get none', async () => {
    assert.deepEqual(refusalOf(await create(8)), { kind: 'no-node' })
    await addHosts({ a: [100, 1_000], b: [100, 50] })
    await silence('a')
    assert.equal((await created(8)).nodeId, 'b')
    assert.deepEqual(refusalOf(await create(43)), noRoom(43, 1, 42))
    await silence('b')
    const { heardAt } = await database.db
      .selectFrom('nodes')
      .select((eb) => eb.fn.max('heartbeatAt').as('heardAt'))
      .executeTakeFirstOrThrow()
    assert.deepEqual(refusalOf(await create(8)), { kind: 'no-node', heardAt })
  })

  it('give no room twice, however many users ask at once', async () => {
    await addHosts({ a: [100, 35], b: [100, 25] })
    const users = await Promise.all(['u1', 'u2', 'u3', 'u4', 'u5', 'u6', 'u7', 'u8', 'u9'].map(newUser))
    await Promise.all(users.map(() => database.check()))
    const outcomes = await Promise.all(
      users.map((owner, index) => (index % 2 === 0 ? create(10, owner) : createWith(made(10), owner))),
    )
    assert.equal(outcomes.filter(({ ok }) => ok).length, 5)
    const nodes = await overlookNodes(database)
    assert.deepEqual(
      nodes.map(({ id, volumes, promisedMb, volumeMb }) => [id, volumes, promisedMb, volumeMb]),
      [
        ['a', 3, 30, 35],
        ['b', 2, 20, 25],
      ],
    )
  })

  it('get an instance with a new volume if they have room for both, and most of what is scarcer', async () => {
    await addHosts({ a: [10_000, 15], b: [2_000, 100], c: [1_000, 100] })
    assert.deepEqual(await hostsOf(made(16)), ['b'])
    assert.deepEqual(await hostsOf(made(15)), ['c'], 'it would take all room of a')
    assert.deepEqual(await hostsOf({}), ['a'])
  })

  it('share replicas by the room that is left after each one', async () => {
    await addHosts({ a: [10_000, 35], b: [2_000, 20] })
    const hosts = await hostsOf({ replicas: 4, ...made(10) })
    assert.deepEqual(hosts, ['a', 'a', 'a', 'b', 'b'])
    const volumes = await listVolumes(database, user.uuid)
    const rows = await listInstances(database, { userUuid: user.uuid })
    for (const volume of volumes) {
      const holder = rows.find(({ uuid }) => uuid === volume.attachedTo?.uuid)
      assert.equal(volume.nodeId, holder?.nodeId)
    }
  })

  it('get all replicas with their volumes or none', async () => {
    await addHosts({ a: [10_000, 35], b: [2_000, 20] })
    assert.deepEqual(refusalOf(await createWith({ replicas: 5, ...made(10) })), noRoom(10, 6, 35))
    assert.deepEqual(await listVolumes(database, user.uuid), [])
    assert.deepEqual(await listInstances(database, { userUuid: user.uuid }), [])
  })

  it('get an instance whose existing volume they have', async () => {
    await addHosts({ a: [100, 100], b: [100_000, 50] })
    const { uuid, name } = await created(60)
    await recordVolume(database, { uuid, revision: 1 }, { phase: VolumePhase.Ready, made: true })
    const choice = { volume: { existing: { uuid }, mount } }
    await silence('a')
    const refused = { kind: 'volume-host-silent', name, nodeId: 'a' }
    assert.deepEqual(refusalOf(await createWith(choice)), refused)
    await addHosts({ a: [100, 100] })
    const full = { kind: 'no-memory-room', neededMb: 2_064, count: 1, roomiestMb: 100 }
    assert.deepEqual(refusalOf(await createWith({ autostart: true, memoryMb: 2_000, ...choice })), full)
    await addHosts({ a: [2_100, 100] })
    assert.deepEqual(await hostsOf({ autostart: true, memoryMb: 2_000, ...choice }), ['a'])
  })

  it('are not removed before their volumes', async () => {
    await addHosts({ a: [100, 100] })
    const [outcome] = [await createWith(made(10))]
    assert.ok(outcome.ok)
    const [row] = outcome.instances
    await silence('a')
    await markDeleted(database, user.uuid, row!.uuid)
    assert.deepEqual(await removeNode(database, 'a'), { ok: false, refusal: 'has-instances' })
    await removeInstanceRow(database, row!.uuid)
    assert.deepEqual(await removeNode(database, 'a'), { ok: false, refusal: 'has-volumes' })
    assert.ok(await findDeletedVolume(database, row!.volumeUuid!))
    await removeVolumeRow(database, row!.volumeUuid!)
    assert.deepEqual(await removeNode(database, 'a'), { ok: true })
  })
})
