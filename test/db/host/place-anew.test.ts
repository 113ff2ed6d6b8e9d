import { strict as assert } from 'node:assert'
import { randomUUID } from 'node:crypto'
import type { UserRecord } from '../../../src/db/account/users.ts'
import { openDatabase } from '../../../src/db/database.ts'
import type { Database } from '../../../src/db/database.ts'
import { setUse } from '../../../src/db/host/administration.ts'
import { HostUse } from '../../../src/domain/host/use.ts'
import { insertInstances } from '../../../src/db/instance/create.ts'
import { findByUuids } from '../../../src/db/instance/instances.ts'
import type { NewInstances } from '../../../src/db/instance/new-instances.ts'
import { placeAnew } from '../../../src/db/instance/place-anew.ts'
import { macAddress } from '../../../src/domain/host/private-address.ts'
import { addNode, addUser, testSecretBox, wantedInstance } from '../../support/accounts.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import type { TestDatabase } from '../../support/postgres.ts'
import { testMount as mount } from '../../support/volume-records.ts'

describe('an instance of a lost host', () => {
  let own: TestDatabase
  let database: Database
  let user: UserRecord
  beforeEach(async () => {
    own = await createTestDatabase()
    database = await openDatabase({ url: own.url, applicationName: 'losses' })
    user = await addUser(database, { name: 'ann' })
    await addNode(database, { id: 'big', memoryMb: 60_000, volumeMb: 60_000 })
    await addNode(database, { id: 'small', memoryMb: 700 })
  })
  afterEach(async () => {
    await database.close()
    await own.drop()
  })

  /** Makes instances on the big host, which takes nothing new from then on. */
  async function lose(wanted: Partial<NewInstances> = {}): Promise<readonly string[]> {
    await setUse(database, 'small', HostUse.Cordoned)
    const outcome = await insertInstances(
      { database, secretBox: testSecretBox },
      wantedInstance(user, { memoryMb: 128, autostart: true, ...wanted }),
    )
    assert.ok(outcome.ok, JSON.stringify(outcome))
    assert.ok(outcome.instances.every(({ nodeId }) => nodeId === 'big'))
    await setUse(database, 'small', HostUse.Open)
    await setLost(new Date())
    return outcome.instances.map(({ uuid }) => uuid)
  }
  const setLost = async (lostAt: Date | null) =>
    await database.db.updateTable('nodes').set({ lostAt }).where('id', '=', 'big').execute()
  const placed = (instanceUuid: string) => placeAnew(database, { instanceUuid, lostNodeId: 'big' })
  const rowOf = async (uuid: string) => (await findByUuids(database, [uuid]))[0]!

  it('gets another host with an address there, and why; a repeat changes nothing', async () => {
    const [uuid = ''] = await lose()
    const before = await rowOf(uuid)
    assert.deepEqual(await placed(uuid), { ok: true, value: 'small' })
    const row = await rowOf(uuid)
    assert.deepEqual([row.nodeId, row.mac], ['small', macAddress(row.privateIp)])
    assert.notEqual(row.privateIp, before.privateIp)
    assert.deepEqual(row.placement, { kind: 'lost', nodeId: 'big' })
    assert.deepEqual(await placed(uuid), { ok: true, value: 'small' })
    assert.deepEqual(await rowOf(uuid), row)
  })

  it('stays there if the host has come back meanwhile', async () => {
    const [uuid = ''] = await lose()
    await setLost(null)
    const before = await rowOf(uuid)
    assert.deepEqual(await placed(uuid), { ok: true, value: 'big' })
    assert.deepEqual(await rowOf(uuid), before)
  })

  it('stays where its volume is', async () => {
    const [uuid = ''] = await lose({ volume: { made: { sizeMb: 64 }, mount } })
    assert.deepEqual(await placed(uuid), { ok: true, value: 'big' })
    assert.equal((await rowOf(uuid)).nodeId, 'big')
  })

  it('waits if no host has room for it; those that fit are placed', async () => {
    const uuids = await lose({ replicas: 4 })
    const outcomes = await Promise.all(uuids.map(placed))
    const refusals = outcomes.flatMap((outcome) => (outcome.ok ? [] : [outcome.refusal.kind]))
    assert.ok(refusals.length > 0 && refusals.length < uuids.length, JSON.stringify(outcomes))
    assert.deepEqual(new Set(refusals), new Set(['no-memory-room']))
    const rows = await findByUuids(database, uuids)
    const there = rows.filter(({ nodeId }) => nodeId === 'small')
    assert.equal(there.length, uuids.length - refusals.length)
    assert.equal(new Set(there.map(({ privateIp }) => privateIp)).size, there.length)
  })

  it('that does not run needs no memory now', async () => {
    const uuids = await lose({ autostart: false, replicas: 9 })
    for (const uuid of uuids) assert.deepEqual(await placed(uuid), { ok: true, value: 'small' })
  })

  it('that is gone is placed nowhere', async () => {
    assert.deepEqual(await placed(randomUUID()), { ok: true, value: undefined })
  })
})
