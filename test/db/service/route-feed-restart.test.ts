import { strict as assert } from 'node:assert'
import { openDatabase } from '../../../src/db/database.ts'
import type { Database } from '../../../src/db/database.ts'
import { insertInstances } from '../../../src/db/instance/create.ts'
import { recordInstance } from '../../../src/db/instance/projection.ts'
import { readFeed } from '../../../src/db/service/feed-read.ts'
import { routeLine } from '../../../src/db/service/feed-routes.ts'
import { routesQuery } from '../../../src/db/sql/feed.ts'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { addNode, addUser, testSecretBox, wantedInstance } from '../../support/accounts.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import type { TestDatabase } from '../../support/postgres.ts'
import { settledFeed } from '../../support/settled-feed.ts'

describe('the route feed of an instance that restarts', () => {
  let own: TestDatabase
  let database: Database
  before(async () => {
    own = await createTestDatabase()
    database = await openDatabase({ url: own.url, applicationName: 'feed-test' })
    await addNode(database)
  })
  after(async () => {
    await database.close()
    await own.drop()
  })

  it('tells of it as of one that starts, and when that is over', async () => {
    const user = await addUser(database, { name: 'ann' })
    const service = {
      made: { ports: [], domains: [], softLimit: 1, hardLimit: 1, metroDomain: 'metro.test' },
    }
    const wanted = { ...wantedInstance(user), service }
    const made = await insertInstances({ database, secretBox: testSecretBox }, wanted)
    assert.ok(made.ok)
    const { uuid } = made.instances[0]!
    const life = { boot: 1, startCount: 1, restartCount: 0, restartAttempt: 0, uptimeMs: 0 }
    let since = (await settledFeed(database, () => readFeed(database, routesQuery, undefined))).revision
    const told = async (revision: number, state: InstanceState, restarting: boolean) => {
      await recordInstance(database, { uuid, revision }, { ...life, state, restarting })
      const feed = await settledFeed(database, () => readFeed(database, routesQuery, since))
      since = feed.revision
      const lines = feed.rows.map((row) => routeLine(testSecretBox, row))
      return lines.flatMap((line) => (line.kind === 'instance' ? line.instance.state : []))
    }
    assert.deepEqual(await told(1, InstanceState.Draining, true), ['starting'])
    // A stop by hand: the start does not come any more.
    assert.deepEqual(await told(2, InstanceState.Draining, false), ['draining'])
    assert.deepEqual(await told(3, InstanceState.Stopping, true), ['starting'])
  })
})
