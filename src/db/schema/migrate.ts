import pg from 'pg'
import type { Database } from '../database.ts'
import { UnusableDatabase, databasePlace, failedConnection, refusedByDatabase } from '../unusable-database.ts'
import { migrationList, worksFrom } from './migrations/list.ts'

/** The lock by which one process at a time migrates a database. The number has no other meaning. */
const migrationLock = 7_070_001

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
    const reason = reasonAgainst(await readHistory(lock))
    if (reason !== undefined) throw new UnknownDatabase(`${databasePlace(database.url)} ${reason}`)
    const migrated = await database.orm.migrator.up()
    if (migrated.length > 0) await markDatabase(lock)
    return migrated.map((migration) => migration.name)
  } catch (error) {
    throw refusedByDatabase(database.url, error) ?? error
  } finally {
    await lock.end()
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

/**
 * Why this version can not work with the database. Undefined if the database is empty, or was made by this
 * version or an older one.
 */
function reasonAgainst({ tables, migrations, worksFrom: mark }: History): string | undefined {
  const [first = '', ...more] = migrationList.map(({ name }) => name)
  const unknown = migrations.filter((name) => name !== first && !more.includes(name))
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
