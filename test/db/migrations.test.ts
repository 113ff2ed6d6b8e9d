import { strict as assert } from 'node:assert'
import { openDatabase } from '../../src/db/database.ts'
import { migrate } from '../../src/db/schema/migrate.ts'
import { migrationList } from '../../src/db/schema/migrations/list.ts'
import { createEmptyDatabase } from '../support/postgres.ts'
import type { TestDatabase } from '../support/postgres.ts'

describe('migrations', () => {
  let empty: TestDatabase
  beforeEach(async () => {
    empty = await createEmptyDatabase()
  })
  afterEach(() => empty.drop())

  it('make of an empty database exactly what the entities describe', async () => {
    const database = await openDatabase({ url: empty.url, applicationName: 'migrations' })
    try {
      assert.deepEqual(
        await migrate(database),
        migrationList.map(({ name }) => name),
      )
      const difference = await database.orm.schema.getUpdateSchemaSQL({ dropTables: false })
      assert.equal(difference.trim(), '')
    } finally {
      await database.close()
    }
  })

  it('run once, however many processes start at the same time', async () => {
    const databases = await Promise.all(
      Array.from({ length: 4 }, () => openDatabase({ url: empty.url, applicationName: 'migrations' })),
    )
    try {
      const ran = await Promise.all(databases.map((database) => migrate(database)))
      assert.deepEqual(
        ran.flat(),
        migrationList.map(({ name }) => name),
      )
    } finally {
      await Promise.all(databases.map((database) => database.close()))
    }
  })

  it('can be undone and done again', async () => {
    const database = await openDatabase({ url: empty.url, applicationName: 'migrations' })
    try {
      await migrate(database)
      await database.orm.migrator.down({ to: 0 })
      assert.equal((await migrate(database)).length, migrationList.length)
    } finally {
      await database.close()
    }
  })
})
