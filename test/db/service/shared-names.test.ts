import { strict as assert } from 'node:assert'
import { insertInstances } from '../../../src/db/instance/create.ts'
import { openDatabase } from '../../../src/db/database.ts'
import type { Database } from '../../../src/db/database.ts'
import { readFeed } from '../../../src/db/service/feed-read.ts'
import { SharedNames } from '../../../src/db/service/shared-names.ts'
import { namesQuery } from '../../../src/db/sql/feed.ts'
import type { UserRecord } from '../../../src/db/account/users.ts'
import { addNode, addUser, testSecretBox, wantedInstance } from '../../support/accounts.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import type { TestDatabase } from '../../support/postgres.ts'

const hosts = Array.from({ length: 20 }, (_, index) => `h${String(index)}`)

describe('the changes of names that hosts share', () => {
  let own: TestDatabase
  let database: Database
  let user: UserRecord
  let queries = 0
  let nowMs = 1_000_000
  let names: SharedNames
  before(async () => {
    own = await createTestDatabase()
    database = await openDatabase({ url: own.url, applicationName: 'shared-names-test' })
    for (const id of hosts) await addNode(database, { id })
    user = await addUser(database, { name: 'ann' })
    names = new SharedNames(counted(), () => nowMs)
  })
  after(async () => {
    await database.close()
    await own.drop()
  })

  /** The database, which counts its queries. */
  function counted(): Database {
    const getExecutor = () => {
      queries += 1
      return database.db.getExecutor()
    }
    return { ...database, db: Object.assign(Object.create(database.db), { getExecutor }) }
  }
  const readAll = async (since: string) => {
    const before = queries
    const reads = await Promise.all(hosts.map(async (id) => await names.read(id, since)))
    return { queries: queries - before, reads }
  }
  const revision = async () => (await readFeed(database, namesQuery('h0'), undefined)).revision
  const add = async () => {
    const outcome = await insertInstances({ database, secretBox: testSecretBox }, wantedInstance(user))
    assert.ok(outcome.ok)
    return outcome.instances[0]!
  }

  it('are read by one query for all that ask at once, and by a second for those that come meanwhile', async () => {
    const first = await revision()
    assert.equal((await readAll(first)).queries, 1 + hosts.length)
    const since = await revision()
    const { uuid, nodeId } = await add()
    const { reads, ...seen } = await readAll(since)
    assert.ok(seen.queries <= 2, `${String(seen.queries)} queries`)
    const told = reads.map(({ rows }) => rows.map(({ id }) => id))
    assert.deepEqual(
      told,
      hosts.map((id) => (id === nodeId ? [uuid] : [])),
    )
  })

  it('are read by each host for itself after a long pause, and when it knows less than is kept', async () => {
    const since = await revision()
    const { uuid, nodeId } = await add()
    nowMs += 60_001
    const { reads, ...seen } = await readAll(since)
    assert.equal(seen.queries, 1 + hosts.length)
    assert.ok(reads[hosts.indexOf(nodeId)]?.rows.some(({ id }) => id === uuid))
    await add()
    const old = await readAll(since)
    assert.ok(old.queries >= hosts.length)
    assert.ok(old.reads[hosts.indexOf(nodeId)]?.rows.some(({ id }) => id === uuid))
  })
})
