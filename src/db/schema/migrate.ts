import { setTimeout } from 'node:timers/promises'
import type { ExpressionBuilder } from 'kysely'
import pg from 'pg'
import type { Database } from '../database.ts'
import {
  UnusableDatabase,
  codeOf,
  databasePlace,
  failedConnection,
  refusedByDatabase,
} from '../unusable-database.ts'
import { migrationList, worksFrom } from './migrations/list.ts'

/** The lock by which one process at a time migrates a database. The number has no other meaning. */
const migrationLock = 7_070_001
/**
 * How long a migration waits for one lock. Every later query on that table, also a host's heartbeat, waits
 * behind it.
 */
const lockWaitMs = 2_000
/** How long to wait before another attempt, so that what waited behind the last one goes on. */
const betweenAttemptsMs = 1_000
/** A part that takes over has 30 s for its start, and is to say why it can not. */
const maxAttempts = 8
/** The codes with which PostgreSQL ends the wait for a lock: the time is over, or two wait for each other. */
const lockFailures: ReadonlySet<string> = new Set(['55P03', '40P01'])

/** This version of Roost can not work with the database. The message tells people what to do. */
export class UnknownDatabase extends UnusableDatabase {
  override readonly name = 'UnknownDatabase'
}

/**
 * Brings the schema up to date and returns the migrations that this call ran. Safe to call from several
 * processes at once: one migrates, the others wait for it and find nothing left to do. Throws
 * `UnknownDatabase` and changes nothing if the database was not made by Roost, or by a newer version with
 * which this one can not share it (`worksFrom`), and `UnusableDatabase` if PostgreSQL does not answer or
 * refuses.
 */
export async function migrate(database: Database): Promise<readonly string[]> {
  // The lock belongs to a connection, and a pool would not give back the same one.
  const lock = new pg.Client({ ...database.address, application_name: database.applicationName })
  await lock.connect().catch((error: unknown) => {
    throw failedConnection(database.url, error)
  })
  try {
    await lock.query('select pg_advisory_lock($1)', [migrationLock])
    const history = await readHistory(lock)
    const reason = reasonAgainst(history)
    if (reason !== undefined) throw new UnknownDatabase(`${databasePlace(database.url)} ${reason}`)
    const migrated = await changeTables(database)
    // A later version has made its own mark.
    if (unknownOf(history).length === 0 && history.worksFrom !== worksFrom) await markDatabase(lock)
    return migrated.map((migration) => migration.name)
  } catch (error) {
    throw refusedByDatabase(database.url, error) ?? error
  } finally {
    await lock.end()
  }
}

/** Makes all pending changes in one transaction, or none. It takes two connections of the pool. */
async function changeTables({ orm }: Database) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await orm.em.fork().transactional(async (em) => {
        await em.getKysely().selectNoFrom(lockTimeout).execute()
        return await orm.migrator.up({ transaction: em.getTransactionContext()! })
      })
    } catch (error) {
      if (!lockFailures.has(codeOf(error)) || attempt === maxAttempts) throw error
      await setTimeout(betweenAttemptsMs)
    }
  }
}

/** Bounds each wait for a lock in the statement's own transaction. */
function lockTimeout(eb: ExpressionBuilder<object, never>) {
  const setting = [eb.val('lock_timeout'), eb.val(String(lockWaitMs)), eb.lit(true)]
  return eb.fn<string>('set_config', setting).as('timeout')
}

/**
 * Throws `UnknownDatabase` if the version that has the database does not work with it any more once this one
 * has changed it. Then this version can not take over from that one, because it could not go back.
 */
export async function requireShareable(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, application_name: 'roost upgrade' })
  await client.connect().catch((error: unknown) => {
    throw failedConnection(url, error)
  })
  try {
    const { migrations } = await readHistory(client)
    if (!migrations.includes(worksFrom))
      throw new UnknownDatabase(
        `${databasePlace(url)} is of a version that is too old to be taken over from while it runs: upgrade to a version in between first, ` +
          'or end the platform with `npx roost admin halt --keep-vms` and start this version',
      )
  } finally {
    await client.end()
  }
}

interface History {
  readonly tables: readonly string[]
  /** The migration from which a version works with the database; undefined if an early version made it. */
  readonly worksFrom: string | undefined
  /** The names of the migrations that ran. */
  readonly migrations: readonly string[]
}

const historyTable = 'mikro_orm_migrations'
const markBefore = 'versions work with this database that know '

async function readHistory(client: pg.Client): Promise<History> {
  const { rows } = await client.query<{ name: string }>(
    'select tablename as name from pg_tables where schemaname = current_schema()',
  )
  const tables = rows.map(({ name }) => name)
  if (!tables.includes(historyTable)) return { tables, migrations: [], worksFrom: undefined }
  const ran = await client.query<{ name: string }>(`select name from ${historyTable} order by name`)
  const { rows: marks } = await client.query<{ mark: string | null }>(
    `select obj_description($1::regclass, 'pg_class') as mark`,
    [historyTable],
  )
  const mark = marks[0]?.mark ?? ''
  return {
    tables,
    migrations: ran.rows.map(({ name }) => name),
    worksFrom: mark.startsWith(markBefore) ? mark.slice(markBefore.length) : undefined,
  }
}

/**
 * Writes into the database which versions work with it. The mark is a comment: a table for it would need a
 * migration that every version knows.
 */
async function markDatabase(client: pg.Client): Promise<void> {
  const mark = client.escapeLiteral(markBefore + worksFrom)
  await client.query(`comment on table ${historyTable} is ${mark}`)
}

function unknownOf({ migrations }: Pick<History, 'migrations'>): readonly string[] {
  return migrations.filter((ran) => !migrationList.some(({ name }) => name === ran))
}

/**
 * Why this version can not work with the database. Undefined if the database is empty, or was made by this
 * version or an older one.
 */
function reasonAgainst({ tables, migrations, worksFrom: mark }: History): string | undefined {
  const [first = '', ...more] = migrationList.map(({ name }) => name)
  const unknown = unknownOf({ migrations })
  if (unknown.some((name) => name < first))
    return 'was made by a version of Roost from before the first release, and there is no way from it to this one: start with an empty database (`npm start` makes one in a new data directory)'
  const isEnough = mark !== undefined && (mark === first || more.includes(mark))
  if (unknown.length > 0 && !isEnough)
    return `was made by a newer version of Roost (this one does not know ${unknown.join(', ')}): start that version, or restore a backup of before it`
  const foreign = tables.filter((name) => name !== historyTable)
  if (migrations.length === 0 && foreign.length > 0)
    return `has tables that are not Roost's (${foreign.slice(0, 3).join(', ')}): give Roost a database of its own`
  return undefined
}
