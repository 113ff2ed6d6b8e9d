import { strict as assert } from 'node:assert'
import { insertInstances } from '../../src/db/instance/create.ts'
import { openDatabase } from '../../src/db/database.ts'
import type { Database } from '../../src/db/database.ts'
import { openInstanceWatch } from '../../src/db/instance/watch.ts'
import type { InstanceWatch } from '../../src/db/instance/watch.ts'
import type { InstanceRow } from '../../src/db/instance/row.ts'
import { findByUuids } from '../../src/db/instance/instances.ts'
import { migrate } from '../../src/db/schema/migrate.ts'
import { recordInstance } from '../../src/db/instance/projection.ts'
import { InstanceState } from '../../src/domain/instance/state.ts'
import { addNode, addUser, testSecretBox, wantedInstance } from '../support/accounts.ts'
import { startTestServer } from '../support/embedded-postgres.ts'
import type { TestServer } from '../support/embedded-postgres.ts'

/** These tests have a PostgreSQL server of their own, because they stop it. */
describe('while PostgreSQL is away', () => {
  let server: TestServer
  let database: Database
  let watch: InstanceWatch
  before(async () => {
    server = await startTestServer()
    database = await openDatabase({ url: server.url, applicationName: 'outage' })
    await migrate(database)
    await addNode(database)
    watch = await openInstanceWatch(database)
  })
  after(async () => {
    await watch.close()
    await database.close()
    await server.stop()
  })

  it('queries fail, and a wait goes on and sees what happens afterwards', async () => {
    const user = await addUser(database, { name: 'ann' })
    const made = await insertInstances({ database, secretBox: testSecretBox }, wantedInstance(user))
    assert.ok(made.ok)
    const [{ uuid } = { uuid: '' }] = made.instances
    const asked = Promise.withResolvers<void>()
    const read = async () => (await findByUuids(database, [uuid]))[0]
    const isSatisfied = (row: InstanceRow | undefined) => {
      asked.resolve()
      return row?.state === InstanceState.Running
    }
    const outcome = watch.waitForRead([uuid], { read, isSatisfied }, { timeoutMs: 20_000 })
    await asked.promise
    await server.halt()
    await assert.rejects(database.check())
    await assert.rejects(watch.waitForRead([uuid], { read, isSatisfied: () => true }, { timeoutMs: 0 }))
    await server.resume()
    await database.check()
    const projection = { boot: 1, startCount: 1, restartCount: 0, restartAttempt: 0, uptimeMs: 0 }
    await recordInstance(database, { uuid, revision: 1 }, { ...projection, state: InstanceState.Running })
    assert.equal((await outcome).satisfied, true)
  })

  it('a part can open its database and use it later', async () => {
    await server.halt()
    const early = await openDatabase({ url: server.url, applicationName: 'early' })
    try {
      await assert.rejects(early.check())
      await server.resume()
      await early.check()
      assert.deepEqual(await migrate(early), [])
    } finally {
      await early.close()
    }
  })
})
