import assert from 'node:assert/strict'
import { sql } from 'kysely'
import { openDatabase } from '../../../src/db/database.ts'
import type { Database } from '../../../src/db/database.ts'
import { beforeAllEvents, findOldestEvent, readEventsAfter } from '../../../src/db/event/read.ts'
import { forgetEvents, keepEventOrder } from '../../../src/db/event/retention.ts'
import { writeEvents } from '../../../src/db/event/write.ts'
import { AskerKind } from '../../../src/domain/event/asker.ts'
import { UserEventKind } from '../../../src/domain/event/user-event-kind.ts'
import { addUser } from '../../support/accounts.ts'
import { nobody } from '../../support/least-request.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import type { TestDatabase } from '../../support/postgres.ts'
import { settledEvents } from '../../support/settled-events.ts'

const dayMs = 86_400_000

describe('events', () => {
  let own: TestDatabase
  let database: Database
  let userUuid: string
  before(async () => {
    own = await createTestDatabase()
    database = await openDatabase({ url: own.url, applicationName: 'test' })
  })
  let users = 0
  beforeEach(async () => {
    userUuid = (await addUser(database, { name: `user-${users++}` })).uuid
  })
  after(async () => {
    await database.close()
    await own.drop()
  })

  async function happen(name: string, { daysAgo = 0 } = {}): Promise<void> {
    await writeEvents(database.db, [
      {
        userUuid,
        objectUuid: nobody.uuid,
        objectName: name,
        kind: UserEventKind.InstanceState,
        atMs: Date.now() - daysAgo * dayMs,
        why: 'the test says so',
        asker: { by: AskerKind.Traffic },
      },
    ])
  }

  async function names(): Promise<readonly string[]> {
    await settledEvents(database)
    const { events } = await readEventsAfter(database, userUuid, { after: beforeAllEvents, limit: 100 })
    return events.map(({ objectName }) => objectName).filter((name) => !name.startsWith('user-'))
  }

  it('are kept for as many days as asked, and no longer', async () => {
    await happen('old', { daysAgo: 31 })
    await happen('young', { daysAgo: 29 })
    await happen('now')
    assert.equal(await forgetEvents(database, { days: 30, perUser: 100 }), 1)
    assert.deepEqual(await names(), ['young', 'now'])
  })

  it('are at most so many of one account, the newest', async () => {
    for (const name of ['a', 'b', 'c', 'd']) await happen(name)
    await forgetEvents(database, { days: 30, perUser: 2 })
    assert.deepEqual(await names(), ['c', 'd'])
    assert.equal((await findOldestEvent(database, userUuid))?.objectName, 'c')
  })

  it('keep their order if the database comes from another server, whose transactions had higher numbers', async () => {
    await happen('a')
    await happen('b')
    await database.db
      .updateTable('events')
      .set({ xid: sql`(xid::text::bigint + 1000000)::text::xid8` })
      .execute()
    await keepEventOrder(database)
    await happen('c')
    assert.deepEqual(await names(), ['a', 'b', 'c'])
    await keepEventOrder(database)
    assert.deepEqual(await names(), ['a', 'b', 'c'])
  })
})
