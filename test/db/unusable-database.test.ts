import { strict as assert } from 'node:assert'
import { withDatabase } from '../../src/cli/database-session.ts'
import { openDatabase } from '../../src/db/database.ts'
import { migrate } from '../../src/db/schema/migrate.ts'
import { freePort } from '../../src/primitives/free-ports.ts'
import { refusalOf } from '../launch/refusal.ts'
import { createEmptyDatabase, createTestDatabase } from '../support/postgres.ts'
import { readRows } from '../support/rows.ts'

/** Tries to migrate the database at this address, as the API does when it starts. */
async function migrateAt(url: string): Promise<void> {
  const database = await openDatabase({ url, applicationName: 'unusable' })
  try {
    await migrate(database)
  } finally {
    await database.close()
  }
}

describe('a database that can not be used', () => {
  it('does not answer: the message has the place without the password, the reason, and what to do', async () => {
    const port = await freePort()
    const message =
      `the database at 127.0.0.1:${port}/roost does not answer: connect ECONNREFUSED 127.0.0.1:${port}: ` +
      'start PostgreSQL, or correct host and port in DATABASE_URL'
    const url = `postgres://roost:secret@127.0.0.1:${port}/roost`
    await assert.rejects(migrateAt(url), { name: 'UnusableDatabase', message })
    const command = withDatabase(url, async () => await Promise.resolve())
    await assert.rejects(command, { name: 'CliFailure', message })
  })

  it('does not exist: the message says so, and what to do', async () => {
    const own = await createTestDatabase()
    try {
      const url = new URL(own.url)
      url.pathname = '/nowhere'
      await assert.rejects(migrateAt(url.href), {
        name: 'UnusableDatabase',
        message: `the database at ${url.host}/nowhere refuses: database "nowhere" does not exist: create that database, or correct the name in DATABASE_URL`,
      })
    } finally {
      await own.drop()
    }
  })

  it('permits no tables to its user: the message says so, and what to do', async () => {
    const own = await createEmptyDatabase()
    const role = `weak_${process.pid}`
    const owner = await openDatabase({ url: own.url, applicationName: 'unusable' })
    try {
      await readRows(owner, { text: `create role ${role} login password 'weak'` })
      const url = new URL(own.url)
      url.username = role
      url.password = 'weak'
      const message = /refuses: .*permission denied for schema public: let the user make tables in the schema/
      await assert.rejects(migrateAt(url.href), { name: 'UnusableDatabase', message })
      const command = withDatabase(url.href, async () => await Promise.resolve())
      await assert.rejects(command, { name: 'CliFailure', message })
    } finally {
      await readRows(owner, { text: `drop role if exists ${role}` })
      await owner.close()
      await own.drop()
    }
  })

  for (const [url, what] of [
    ['localhost:5432/roost', "begins with 'localhost:'"],
    ['mysql://roost:secret@db/roost', "begins with 'mysql:'"],
    ['postgres//roost:secret@db/roost', 'is not a URL'],
  ] as const) {
    it(`is not that of PostgreSQL: DATABASE_URL ${what}`, async () => {
      const { code, stderr } = await refusalOf('api', { DATABASE_URL: url })
      assert.equal(code, 1)
      const wanted = 'it has to be a URL such as postgres://user:password@host:5432/roost'
      assert.equal(stderr, `The API can not start: DATABASE_URL ${what}; ${wanted}\n`)
    })
  }
})
