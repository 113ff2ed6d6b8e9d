import { strict as assert } from 'node:assert'
import { insertInstances } from '../../../src/db/instance/create.ts'
import type { NewInstances } from '../../../src/db/instance/new-instances.ts'
import { openDatabase } from '../../../src/db/database.ts'
import type { Database } from '../../../src/db/database.ts'
import { reserveLive } from '../../../src/db/instance/instances.ts'
import { overlookNodes } from '../../../src/db/host/administration.ts'
import type { UserRecord } from '../../../src/db/account/users.ts'
import { addNode, addUser, testSecretBox, wantedInstance } from '../../support/accounts.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import type { TestDatabase } from '../../support/postgres.ts'
import { refusalOf } from '../../support/volume-records.ts'

describe('the memory of hosts, by rows', () => {
  let own: TestDatabase
  let database: Database
  let user: UserRecord
  beforeEach(async () => {
    own = await createTestDatabase()
    database = await openDatabase({ url: own.url, applicationName: 'host memory', poolSize: 20 })
    user = await addUser(database, { name: 'ann', hard: { liveMemoryMb: 1_000_000 } })
  })
  afterEach(async () => {
    await database.close()
    await own.drop()
  })

  const create = async (more: Partial<NewInstances>) =>
    await insertInstances(
      { database, secretBox: testSecretBox },
      wantedInstance(user, { memoryMb: 936, autostart: true, ...more }),
    )
  const created = async (more: Partial<NewInstances> = {}) => {
    const outcome = await create(more)
    assert.ok(outcome.ok, JSON.stringify(outcome))
    return outcome.instances
  }
  const full = (count: number, roomiestMb: number) => ({
    kind: 'no-memory-room',
    neededMb: 1_000,
    count,
    roomiestMb,
  })
  const write = async (text: string) => await database.orm.em.fork().execute(text)

  it('decides for a host on which the start fits, and if none has room nothing is created', async () => {
    await addNode(database, { id: 'large', memoryMb: 2_500 })
    await addNode(database, { id: 'small', memoryMb: 999 })
    const rows = await created({ replicas: 1 })
    assert.deepEqual(
      rows.map(({ nodeId }) => nodeId),
      ['large', 'large'],
    )
    assert.deepEqual(refusalOf(await create({})), full(1, 999))
    assert.equal((await created({ memoryMb: 16 }))[0]?.nodeId, 'small')
  })

  it('can be used to the last MiB, by all instances of a request or none', async () => {
    await addNode(database, { memoryMb: 2_000 })
    assert.deepEqual(refusalOf(await create({ replicas: 2 })), full(3, 2_000))
    await created({ replicas: 1 })
    assert.deepEqual(refusalOf(await create({})), full(1, 0))
  })

  it('is not counted for instances that do not start, sleep, stopped or wait for their next try', async () => {
    await addNode(database, { memoryMb: 1_000 })
    await created({ autostart: false, replicas: 3 })
    await created()
    for (const change of [
      "state = 'standby'",
      "state = 'stopped'",
      "state = 'starting', failure = 'no room'",
    ]) {
      assert.deepEqual(refusalOf(await create({})), full(1, 0), change)
      await write(`update instances set ${change}`)
      await created()
    }
    for (const state of ['draining', 'stopping', 'running']) {
      await write(
        `update instances set state = '${state}', failure = null where uuid = (select max(uuid::text)::uuid from instances)`,
      )
      assert.equal((await create({})).ok, false, state)
    }
  })

  it('is free at once if an instance is deleted before it had a VM, but counted for a running one until its row is gone', async () => {
    await addNode(database, { memoryMb: 1_000 })
    await created()
    await write('update instances set deleted_at = now()')
    await created()
    await write("update instances set deleted_at = now(), state = 'running'")
    assert.deepEqual(refusalOf(await create({})), full(1, 0))
  })

  it('is needed for the start of an instance without a VM, and not for that of a running one', async () => {
    await addNode(database, { memoryMb: 1_500 })
    const [stopped] = await created({ autostart: false })
    const [running] = await created()
    const lack = { neededMb: 1_000, roomMb: 500 }
    const start = async (uuid = '') => await reserveLive(database, user.uuid, uuid)
    assert.deepEqual(await start(stopped?.uuid), { ok: false, refusal: { kind: 'no-memory', lack } })
    assert.deepEqual(await start(running?.uuid), { ok: true })
    await write("update instances set state = 'standby' where state <> 'stopped'")
    assert.deepEqual(await start(stopped?.uuid), { ok: true })
    assert.deepEqual(await start(running?.uuid), { ok: true })
  })

  it('shows in the list of hosts, used and total', async () => {
    await addNode(database, { memoryMb: 5_000 })
    await created({ replicas: 1 })
    await created({ memoryMb: 16 })
    await created({ autostart: false })
    assert.partialDeepStrictEqual(await overlookNodes(database), [{ usedMemoryMb: 2_160, memoryMb: 5_000 }])
  })
})
