import { strict as assert } from 'node:assert'
import { randomBytes } from 'node:crypto'
import process from 'node:process'
import pg from 'pg'
import { openDatabase } from '../../src/db/database.ts'
import { migrate } from '../../src/db/schema/migrate.ts'
import { startTestServer } from './embedded-postgres.ts'

/**
 * A migrated database for one test file: a clone of a template that is migrated once per server. The server
 * is the runner's (`ROOST_TEST_DATABASE_URL`) or, if a file is run alone, one that this process starts.
 */
export interface TestDatabase {
  readonly url: string
  /** Drops the database. Fails if a connection was left open, and names the part that holds it. */
  drop(): Promise<void>
}

/** The variable in which the runner gives the URL of its server to the processes of the tests. */
export const testDatabaseVariable = 'ROOST_TEST_DATABASE_URL'

const templateName = 'roost_template'
const templateLock = 7_070_003
/**
 * How long to wait for open connections to go. The process of a closed connection stays in
 * `pg_stat_activity` for a moment.
 */
const goneWithinMs = 15_000
const goneEveryMs = 10

let ownServer: Promise<string> | undefined

/**
 * Creates a database. Call it in `before`, and `drop` in `after`, once everything that connects is closed.
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  const serverUrl = process.env[testDatabaseVariable] ?? (await (ownServer ??= startOwnServer()))
  await withClient(serverUrl, (client) => ensureTemplate(client, serverUrl))
  const name = `roost_test_${randomBytes(6).toString('hex')}`
  await withClient(serverUrl, (client) => client.query(`create database ${name} template ${templateName}`))
  return { url: databaseUrl(serverUrl, name), drop: () => dropDatabase(serverUrl, name) }
}

/** An empty database of its own, for tests of the migrations themselves. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  const serverUrl = process.env[testDatabaseVariable] ?? (await (ownServer ??= startOwnServer()))
  const name = `roost_test_${randomBytes(6).toString('hex')}`
  await withClient(serverUrl, (client) => client.query(`create database ${name}`))
  return { url: databaseUrl(serverUrl, name), drop: () => dropDatabase(serverUrl, name) }
}

/** Starts a server that lives until mocha has run its last file. */
async function startOwnServer(): Promise<string> {
  const server = await startTestServer()
  after(() => server.stop())
  return server.url
}

/**
 * Makes the template if it is missing. Several processes may ask at once: one makes it, under a lock, and
 * gives it its name only when it is complete.
 */
async function ensureTemplate(client: pg.Client, serverUrl: string): Promise<void> {
  await client.query('select pg_advisory_lock($1)', [templateLock])
  const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [templateName])
  if (rowCount !== 0) return
  const unfinished = `${templateName}_unfinished`
  await client.query(`drop database if exists ${unfinished} with (force)`)
  await client.query(`create database ${unfinished}`)
  const database = await openDatabase({
    url: databaseUrl(serverUrl, unfinished),
    applicationName: 'template',
  })
  await migrate(database)
  await database.close()
  await client.query(`alter database ${unfinished} rename to ${templateName}`)
}

async function dropDatabase(serverUrl: string, name: string): Promise<void> {
  await withClient(serverUrl, async (client) => {
    const leaked = await connectionsThatStay(client, name)
    await client.query(`drop database ${name} with (force)`)
    assert.deepEqual(leaked, [], `connections were left open by: ${leaked.join(', ')}`)
  })
}

async function connectionsThatStay(client: pg.Client, name: string): Promise<readonly string[]> {
  const untilMs = Date.now() + goneWithinMs
  for (;;) {
    const { rows } = await client.query<{ holder: string }>(
      `select application_name as holder from pg_stat_activity where datname = $1 and backend_type = 'client backend'`,
      [name],
    )
    if (rows.length === 0 || Date.now() > untilMs) return rows.map((row) => row.holder)
    await new Promise((resolve) => setTimeout(resolve, goneEveryMs))
  }
}

async function withClient(url: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: url, application_name: 'test support' })
  await client.connect()
  try {
    await work(client)
  } finally {
    await client.end()
  }
}

function databaseUrl(serverUrl: string, name: string): string {
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}
