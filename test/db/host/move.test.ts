import { strict as assert } from 'node:assert'
import type { UserRecord } from '../../../src/db/account/users.ts'
import { openDatabase } from '../../../src/db/database.ts'
import type { Database } from '../../../src/db/database.ts'
import { removeNode, setUse } from '../../../src/db/host/administration.ts'
import { HostUse } from '../../../src/domain/host/use.ts'
import {
  imagesInUse,
  instancesOfNode,
  loadLaunchSpec,
  placeOfVolume,
} from '../../../src/db/host/instances.ts'
import { insertInstances } from '../../../src/db/instance/create.ts'
import { findByUuids } from '../../../src/db/instance/instances.ts'
import { moveRow, planMove } from '../../../src/db/instance/move.ts'
import type { NewInstances } from '../../../src/db/instance/new-instances.ts'
import { placeAnew } from '../../../src/db/instance/place-anew.ts'
import { json } from '../../../src/db/postgres-client.ts'
import { detachVolume } from '../../../src/db/volume/attach.ts'
import type { InstanceMove } from '../../../src/domain/instance/projection.ts'
import { isAddressOf } from '../../../src/domain/host/private-address.ts'
import { addNode, addUser, hearNode, testSecretBox, wantedInstance } from '../../support/accounts.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import type { TestDatabase } from '../../support/postgres.ts'
import { testMount as mount } from '../../support/volume-records.ts'

describe('the row of an instance that moves', () => {
  let own: TestDatabase
  let database: Database
  let user: UserRecord
  beforeEach(async () => {
    own = await createTestDatabase()
    database = await openDatabase({ url: own.url, applicationName: 'moves' })
    user = await addUser(database, { name: 'ann' })
    for (const [id, key] of [
      ['h1', 'one'],
      ['h2', 'two'],
    ] as const) {
      await addNode(database, { id, memoryMb: 700 })
      await update(id, { meshKey: key })
    }
  })
  afterEach(async () => {
    await database.close()
    await own.drop()
  })

  const update = async (id: string, values: object) =>
    await database.db.updateTable('nodes').set(values).where('id', '=', id).execute()
  const rowOf = async (uuid: string) => (await findByUuids(database, [uuid]))[0]!
  const subnetOf = async (id: string) =>
    (await database.db.selectFrom('nodes').select('subnet').where('id', '=', id).executeTakeFirstOrThrow())
      .subnet
  /** Makes an instance on one of the hosts. */
  async function make(on: string, wanted: Partial<NewInstances> = {}): Promise<string> {
    const others = ['h1', 'h2'].filter((id) => id !== on)
    for (const id of others) await setUse(database, id, HostUse.Cordoned)
    const outcome = await insertInstances(
      { database, secretBox: testSecretBox },
      wantedInstance(user, { memoryMb: 128, ...wanted }),
    )
    assert.ok(outcome.ok, JSON.stringify(outcome))
    for (const id of others) await setUse(database, id, HostUse.Open)
    return outcome.instances[0]!.uuid
  }
  /** Writes what the workflow records of a move. */
  const tell = async (uuid: string, move: Omit<InstanceMove, 'from' | 'sinceMs'> | null) => {
    const told = move === null ? null : json({ from: { nodeId: 'h1', address: '' }, sinceMs: 1, ...move })
    await database.db.updateTable('instances').set({ move: told }).where('uuid', '=', uuid).execute()
  }
  const moving = async (uuid: string, nodeId = 'h2') =>
    await tell(uuid, { to: { nodeId, address: '' }, step: 'row' })
  const move = async (instanceUuid: string, from = 'h1', to = 'h2', volumeUuid?: string) => {
    await moving(instanceUuid, to)
    const outcome = await moveRow(database, {
      instanceUuid,
      from,
      to,
      ...(volumeUuid !== undefined && { volumeUuid }),
    })
    assert.ok(outcome.ok, JSON.stringify(outcome))
    return outcome.value
  }

  it('names no other host once the move has failed, however late an attempt comes', async () => {
    const uuid = await make('h1')
    const to = { nodeId: 'h2', address: '' }
    for (const told of [null, { to, step: 'release' }, { to, failure: 'too late' }] as const) {
      await tell(uuid, told)
      await assert.rejects(moveRow(database, { instanceUuid: uuid, from: 'h1', to: 'h2' }), /does not say/)
    }
    await moving(uuid, 'h3')
    await assert.rejects(moveRow(database, { instanceUuid: uuid, from: 'h1', to: 'h2' }), /does not say/)
    assert.equal((await rowOf(uuid)).nodeId, 'h1')
    assert.equal(await move(uuid), undefined)
    assert.equal((await rowOf(uuid)).nodeId, 'h2')
  })

  it('is told to the new host as moving there as long as the row may come to name it, and then as its own', async () => {
    const uuid = await make('h1')
    const to = { nodeId: 'h2', address: '' }
    const ofNode = async (id: string) => {
      const { instances, arriving } = await instancesOfNode(database, id)
      return { own: instances.map((each) => each.uuid), arriving }
    }
    for (const told of [null, { to, step: 'release' }, { to, failure: 'too late' }] as const) {
      await tell(uuid, told)
      assert.deepEqual(await ofNode('h2'), { own: [], arriving: [] })
    }
    for (const step of ['wanted', 'copy', 'hold', 'fetch', 'row', 'take'] as const) {
      await tell(uuid, { to, step })
      assert.deepEqual(await ofNode('h2'), { own: [], arriving: [uuid] }, step)
    }
    await tell(uuid, { to, step: 'wanted', failure: 'it failed before, and is tried again' })
    assert.deepEqual(await ofNode('h2'), { own: [], arriving: [uuid] })
    assert.deepEqual(await ofNode('h1'), { own: [uuid], arriving: [] })
    assert.equal(await move(uuid), undefined)
    assert.deepEqual(await ofNode('h2'), { own: [uuid], arriving: [] })
    assert.deepEqual(await ofNode('h1'), { own: [], arriving: [] })
  })

  it('lets the new host pull the image while it moves, and no longer', async () => {
    const uuid = await make('h1')
    const { image } = await rowOf(uuid)
    const to = { nodeId: 'h2', address: '' }
    assert.deepEqual(await imagesInUse(database, 'h2'), [])
    await tell(uuid, { to, step: 'fetch' })
    assert.deepEqual(await imagesInUse(database, 'h2'), [image])
    assert.deepEqual(await imagesInUse(database, 'h1'), [image])
    for (const over of [{ step: 'release' }, { failure: 'it has a cold' }] as const) {
      await tell(uuid, { to, ...over })
      assert.deepEqual(await imagesInUse(database, 'h2'), [])
    }
  })

  it('keeps its address, and has a seat at the new host, and why it is there; a repeat changes nothing', async () => {
    const uuid = await make('h1')
    const before = await rowOf(uuid)
    assert.equal(await move(uuid), undefined)
    const row = await rowOf(uuid)
    assert.deepEqual([row.nodeId, row.privateIp, row.mac], ['h2', before.privateIp, before.mac])
    assert.ok(isAddressOf(await subnetOf('h2'), row.seatIp ?? ''))
    assert.deepEqual(row.placement, { kind: 'moved', nodeId: 'h1' })
    assert.equal(await move(uuid), undefined)
    assert.deepEqual(await rowOf(uuid), row)
  })

  it('has no seat once it has come home, and another one at a third host', async () => {
    const uuid = await make('h1')
    await move(uuid)
    await addNode(database, { id: 'h3' })
    await move(uuid, 'h2', 'h3')
    assert.ok(isAddressOf(await subnetOf('h3'), (await rowOf(uuid)).seatIp ?? ''))
    await move(uuid, 'h3', 'h1')
    const { nodeId, seatIp } = await rowOf(uuid)
    assert.deepEqual([nodeId, seatIp], ['h1', null])
  })

  it('keeps its address from new instances of its old host, and its seat from those of the new one', async () => {
    const uuid = await make('h1')
    await move(uuid)
    const { privateIp, seatIp } = await rowOf(uuid)
    // The next address that each host would give out is one of these two.
    const index = (address: string | null) => Number(address?.split('.')[3])
    await update('h1', { nextAddress: index(privateIp) })
    await update('h2', { nextAddress: index(seatIp) })
    const made = await Promise.all(
      [await make('h1', { name: 'a' }), await make('h2', { name: 'b' })].map(rowOf),
    )
    const addresses = made.map((row) => row.privateIp)
    assert.ok(!addresses.includes(privateIp) && !addresses.includes(seatIp ?? ''), addresses.join())
    const other = await make('h1', { name: 'c' })
    await update('h2', { nextAddress: index(seatIp) })
    await move(other)
    assert.notEqual((await rowOf(other)).seatIp, seatIp)
  })

  it('keeps its network from hosts that join, also after its old host was removed', async () => {
    const uuid = await make('h1')
    await move(uuid)
    const subnet = await subnetOf('h1')
    await update('h1', { heartbeatAt: new Date(0) })
    assert.deepEqual(await removeNode(database, 'h1'), { ok: true })
    await hearNode(database, { id: 'h4' })
    assert.notEqual(await subnetOf('h4'), subnet)
    assert.ok(!isAddressOf(await subnetOf('h4'), (await rowOf(uuid)).privateIp))
  })

  it('gets a new address without a seat if the new host is lost', async () => {
    const uuid = await make('h1')
    await move(uuid)
    await update('h2', { lostAt: new Date() })
    assert.deepEqual(await placeAnew(database, { instanceUuid: uuid, lostNodeId: 'h2' }), {
      ok: true,
      value: 'h1',
    })
    const { privateIp, seatIp } = await rowOf(uuid)
    assert.ok(isAddressOf(await subnetOf('h1'), privateIp))
    assert.equal(seatIp, null)
  })

  describe('with a volume', () => {
    let uuid: string
    let volumeUuid: string
    const volume = async () =>
      await database.db
        .selectFrom('volumes')
        .selectAll()
        .where('uuid', '=', volumeUuid)
        .executeTakeFirstOrThrow()
    const hosts = async () => [(await rowOf(uuid)).nodeId, (await volume()).nodeId]
    const change = async (values: object) =>
      await database.db.updateTable('volumes').set(values).where('uuid', '=', volumeUuid).execute()
    beforeEach(async () => {
      uuid = await make('h1', { name: 'kept', volume: { made: { sizeMb: 64 }, mount } })
      volumeUuid = (await rowOf(uuid)).volumeUuid ?? ''
      await change({ phase: 'ready', made: true })
    })

    it('is on its new host in one write with it, and starts there', async () => {
      const plan = await planMove(database, await rowOf(uuid), 'h2')
      assert.deepEqual(plan.ok && plan.volume, { uuid: volumeUuid, sizeMb: 64 })
      assert.equal(await move(uuid, 'h1', 'h2', volumeUuid), undefined)
      assert.deepEqual(await hosts(), ['h2', 'h2'])
      assert.equal(await move(uuid, 'h1', 'h2', volumeUuid), undefined)
      const spec = await loadLaunchSpec({ database, secretBox: testSecretBox }, { nodeId: 'h2', uuid })
      assert.equal(spec?.volume?.uuid, volumeUuid)
      const places = ['h1', 'h2'].map(async (id) => await placeOfVolume(database, id, volumeUuid))
      assert.deepEqual(await Promise.all(places), ['elsewhere', 'here'])
      assert.equal(await placeOfVolume(database, 'h2', uuid), 'nowhere')
    })

    it('stays with it if another volume was fetched than it has, or none', async () => {
      const other = '00000000-0000-4000-8000-00000000000e'
      for (const wrong of [undefined, other])
        assert.equal(
          await move(uuid, 'h1', 'h2', wrong),
          'another volume was attached after its move was asked for',
        )
      assert.ok((await detachVolume(database, { userUuid: user.uuid, volumeUuid })).ok)
      assert.equal(
        await move(uuid, 'h1', 'h2', volumeUuid),
        'its volume was detached after its move was asked for',
      )
      assert.deepEqual(await hosts(), ['h1', 'h1'])
    })

    it('stays with it unless it is ready, on the same host, and has room at the new one', async () => {
      const refused = async () => {
        const plan = await planMove(database, await rowOf(uuid), 'h2')
        assert.ok(!plan.ok)
        assert.equal(await move(uuid, 'h1', 'h2', volumeUuid), plan.why)
        assert.equal((await rowOf(uuid)).nodeId, 'h1')
        return plan.why
      }
      const { name } = await volume()
      for (const phase of ['busy', 'error', 'initializing']) {
        await change({ phase })
        assert.equal(await refused(), `its volume ${name} is ${phase} and not ready`)
      }
      await change({ phase: 'ready', nodeId: 'h2' })
      assert.equal(await refused(), `its volume ${name} is on host h2`)
      await change({ nodeId: 'h1', deletedAt: new Date() })
      assert.equal(await refused(), `its volume ${name} is being deleted`)
      await change({ deletedAt: null })
      await update('h2', { volumeMb: 63 })
      assert.equal(await refused(), 'its volume needs 64 MB, and host h2 has 63 MB left for volumes')
    })

    it('stays beside the instance that takes its volume over in a rollout, and that one beside it', async () => {
      const next = await make('h1', { name: 'next' })
      await database.db.updateTable('instances').set({ replaces: uuid }).where('uuid', '=', next).execute()
      const why = (name: string) =>
        `a rollout may give the volume to or from ${name}, which has to be on the same host`
      assert.equal(await move(uuid, 'h1', 'h2', volumeUuid), why('next'))
      assert.equal(await move(next), why('kept'))
      const plans = await Promise.all(
        [uuid, next].map(async (one) => planMove(database, await rowOf(one), 'h2')),
      )
      assert.deepEqual(
        plans.map((plan) => !plan.ok && plan.why),
        [why('next'), why('kept')],
      )
      await database.db
        .updateTable('instances')
        .set({ deletedAt: new Date() })
        .where('uuid', '=', next)
        .execute()
      assert.equal(await move(uuid, 'h1', 'h2', volumeUuid), undefined)
    })
  })

  it('stays if the new host is lost, cordoned, unknown or full, or if it is deleted', async () => {
    const uuid = await make('h1')
    assert.equal(await move(uuid, 'h1', 'nowhere'), 'host nowhere takes nothing new any more')
    await setUse(database, 'h2', HostUse.Cordoned)
    assert.equal(await move(uuid), 'host h2 takes nothing new any more')
    await setUse(database, 'h2', HostUse.Open)
    await update('h2', { lostAt: new Date() })
    assert.equal(await move(uuid), 'host h2 takes nothing new any more')
    await update('h2', { lostAt: null })
    assert.equal(await move(uuid, 'h3'), 'it is on host h1 by now')
    const running = await make('h1', { name: 'running', memoryMb: 256 })
    await database.db.updateTable('instances').set({ state: 'running' }).where('uuid', '=', running).execute()
    await update('h2', { memoryMb: 200 })
    assert.match((await move(running)) ?? '', /^it needs \d+ MiB, and host h2 has 200 MiB of memory left$/)
    await database.db
      .updateTable('instances')
      .set({ deletedAt: new Date() })
      .where('uuid', '=', uuid)
      .execute()
    assert.equal(await move(uuid), 'it is deleted')
    assert.equal((await rowOf(running)).nodeId, 'h1')
  })

  it('is planned between two hosts of the mesh that answer', async () => {
    const uuid = await make('h1')
    const plan = async (to = 'h2') => await planMove(database, await rowOf(uuid), to)
    const first = (subnet: string) => subnet.replace(/0\/\d+$/, '1')
    assert.deepEqual(await plan(), {
      ok: true,
      from: { nodeId: 'h1', address: first(await subnetOf('h1')) },
      to: { nodeId: 'h2', address: first(await subnetOf('h2')) },
    })
    assert.deepEqual(await plan('nowhere'), { ok: false, why: 'there is no host nowhere' })
    await setUse(database, 'h2', HostUse.Cordoned)
    assert.deepEqual(await plan(), { ok: false, why: 'host h2 takes nothing new, because it is cordoned' })
    await setUse(database, 'h2', HostUse.Open)
    await update('h1', { meshKey: null })
    assert.deepEqual(await plan(), { ok: false, why: 'host h1 takes no part in the mesh' })
    await update('h1', { heartbeatAt: new Date(0) })
    assert.deepEqual(await plan(), { ok: false, why: 'host h1 does not answer' })
  })
})
