import { strict as assert } from 'node:assert'
import { openDatabase } from '../../../src/db/database.ts'
import type { Database } from '../../../src/db/database.ts'
import { overlookNodes, releaseNode, setUse } from '../../../src/db/host/administration.ts'
import { HostUse } from '../../../src/domain/host/use.ts'
import { insertInstances } from '../../../src/db/instance/create.ts'
import { reserveLive } from '../../../src/db/instance/instances.ts'
import type { NewInstances } from '../../../src/db/instance/new-instances.ts'
import type { UserRecord } from '../../../src/db/account/users.ts'
import { createVolume } from '../../../src/db/volume/create.ts'
import { recordVolume } from '../../../src/db/volume/records.ts'
import { VolumePhase } from '../../../src/domain/volume/state.ts'
import { addNode, addUser, hearNode, testSecretBox, wantedInstance } from '../../support/accounts.ts'
import { readRows } from '../../support/rows.ts'
import { until } from '../../support/until.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import type { TestDatabase } from '../../support/postgres.ts'
import { refusalOf, testMount as mount } from '../../support/volume-records.ts'

describe('cordoned hosts', () => {
  let own: TestDatabase
  let database: Database
  let user: UserRecord
  beforeEach(async () => {
    own = await createTestDatabase()
    database = await openDatabase({ url: own.url, applicationName: 'cordons' })
    user = await addUser(database, { name: 'ann' })
    await addNode(database, { id: 'big', memoryMb: 60_000, volumeMb: 60_000 })
    await addNode(database, { id: 'small', memoryMb: 6_000, volumeMb: 6_000 })
  })
  afterEach(async () => {
    await database.close()
    await own.drop()
  })

  const create = (wanted: Partial<NewInstances> = {}) =>
    insertInstances({ database, secretBox: testSecretBox }, wantedInstance(user, wanted))
  const hostsOf = async (wanted: Partial<NewInstances> = {}) => {
    const outcome = await create(wanted)
    assert.ok(outcome.ok, JSON.stringify(outcome))
    return outcome.instances.map(({ nodeId }) => nodeId)
  }
  const newVolume = async () => {
    const outcome = await createVolume({ database }, { userUuid: user.uuid, sizeMb: 64 })
    assert.ok(outcome.ok, JSON.stringify(outcome))
    return outcome.volume
  }
  const cordonedAt = async (id: string) =>
    (await overlookNodes(database)).find((node) => node.id === id)?.cordonedAt ?? null

  it('get no new instances, replicas and volumes until the cordon is taken back', async () => {
    assert.deepEqual(await hostsOf(), ['big'])
    assert.deepEqual(await setUse(database, 'big', HostUse.Cordoned), { ok: true })
    assert.deepEqual(await hostsOf({ replicas: 2 }), ['small', 'small', 'small'])
    assert.deepEqual(await hostsOf({ autostart: true, volume: { made: { sizeMb: 64 }, mount } }), ['small'])
    assert.equal((await newVolume()).nodeId, 'small')
    await setUse(database, 'big', HostUse.Open)
    assert.deepEqual(await hostsOf({ replicas: 1 }), ['big', 'small'])
    assert.equal((await newVolume()).nodeId, 'big')
  })

  it('do not lend their room to others', async () => {
    await setUse(database, 'big', HostUse.Cordoned)
    const refusal = refusalOf(await create({ autostart: true, memoryMb: 7_000 }))
    assert.partialDeepStrictEqual(refusal, { kind: 'no-memory-room', roomiestMb: 6_000 })
    const volume = await createVolume({ database }, { userUuid: user.uuid, sizeMb: 7_000 })
    assert.partialDeepStrictEqual(refusalOf(volume), { kind: 'no-volume-room', roomiestMb: 6_000 })
  })

  it('let what they have start', async () => {
    const outcome = await create()
    assert.ok(outcome.ok)
    const [row] = outcome.instances
    for (const id of ['big', 'small']) await setUse(database, id, HostUse.Cordoned)
    assert.equal((await reserveLive(database, user.uuid, row!.uuid)).ok, true)
  })

  it('are the reason that is told if every host that answers is one', async () => {
    for (const id of ['big', 'small']) await setUse(database, id, HostUse.Cordoned)
    const refusals = [
      await create(),
      await create({ replicas: 1, autostart: true }),
      await createVolume({ database }, { userUuid: user.uuid, sizeMb: 64 }),
    ]
    assert.deepEqual(
      refusals.map((outcome) => refusalOf(outcome)),
      refusals.map(() => ({ kind: 'all-cordoned' })),
    )
    const silent = database.db.updateTable('nodes').set({ heartbeatAt: new Date(0) })
    await silent.where('id', '=', 'big').execute()
    assert.deepEqual(refusalOf(await create()), { kind: 'all-cordoned' })
    await silent.execute()
    assert.partialDeepStrictEqual(refusalOf(await create()), { kind: 'no-node' })
  })

  it('keep instances away whose existing volume they have', async () => {
    const { uuid, name, nodeId } = await newVolume()
    await recordVolume(database, { uuid, revision: 1 }, { phase: VolumePhase.Ready, made: true })
    await setUse(database, nodeId, HostUse.Cordoned)
    const wanted = { volume: { existing: { uuid }, mount } }
    assert.deepEqual(refusalOf(await create(wanted)), { kind: 'volume-host-cordoned', name, nodeId })
    await database.db
      .updateTable('nodes')
      .set({ heartbeatAt: new Date(0) })
      .where('id', '=', nodeId)
      .execute()
    assert.deepEqual(refusalOf(await create(wanted)), { kind: 'volume-host-silent', name, nodeId })
    await addNode(database, { id: nodeId, memoryMb: 60_000, volumeMb: 60_000 })
    await setUse(database, nodeId, HostUse.Open)
    assert.deepEqual(await hostsOf(wanted), [nodeId])
  })

  it('keep the time of the first cordon, through heartbeats and a release', async () => {
    await setUse(database, 'big', HostUse.Cordoned)
    const at = await cordonedAt('big')
    assert.ok(at !== null)
    await setUse(database, 'big', HostUse.Cordoned)
    await hearNode(database, { id: 'big' })
    await database.db
      .updateTable('nodes')
      .set({ heartbeatAt: new Date(0) })
      .where('id', '=', 'big')
      .execute()
    assert.deepEqual(await releaseNode(database, 'big'), { ok: true })
    await hearNode(database, { id: 'big', agentSecret: 'another machine' })
    assert.deepEqual(await cordonedAt('big'), at)
    assert.equal(await cordonedAt('small'), null)
    for (let time = 0; time < 2; time++) {
      assert.deepEqual(await setUse(database, 'big', HostUse.Open), { ok: true })
      assert.equal(await cordonedAt('big'), null)
    }
    assert.deepEqual(await setUse(database, 'nowhere', HostUse.Cordoned), { ok: false, refusal: 'unknown' })
  })

  it('get nothing from a placement that waited while they were cordoned', async () => {
    await database.check()
    let placed: Promise<readonly string[]> | undefined
    await database.db.transaction().execute(async (db) => {
      await db.updateTable('nodes').set({ cordonedAt: new Date() }).where('id', '=', 'big').execute()
      placed = hostsOf()
      await until('the placement waits', () => isWaiting(database), { limitMs: 10_000 })
    })
    assert.deepEqual(await placed, ['small'])
  })
})

/** Whether a statement waits for a lock. */
async function isWaiting(database: Database): Promise<boolean> {
  const waiting = await readRows(database, {
    text: `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  })
  return waiting.length > 0
}
