import pg from 'pg'
import type { Database } from '../database.ts'

/** One migrating process at a time per database; the number has no other meaning. */
const migrationLock = 7_070_001

/**
 * Brings the schema up to date and returns the migrations that this call ran. Safe to call from several
 * processes at once: one migrates, the others wait for it and find nothing left to do.
 */
export async function migrate(database: Database): Promise<readonly string[]> {
  // The lock belongs to a connection, and a pool would not give back the same one.
  const lock = new pg.Client({ connectionString: database.url, application_name: database.applicationName })
  await lock.connect()
  try {
    await lock.query('select pg_advisory_lock($1)', [migrationLock])
    const migrated = await database.orm.migrator.up()
    return migrated.map((migration) => migration.name)
  } finally {
    await lock.end()
  }
}
