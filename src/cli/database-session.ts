import { openDatabase } from '../db/database.ts'
import type { Database } from '../db/database.ts'
import { migrate } from '../db/schema/migrate.ts'
import { UnusableDatabase, failedConnection } from '../db/unusable-database.ts'
import { CliFailure } from './cli-failure.ts'

/**
 * Opens a connection for the work of one command. A new database gets its schema, so that users can be made
 * before the first start.
 */
export async function withDatabase<T>(url: string, work: (database: Database) => Promise<T>): Promise<T> {
  const options = { url, applicationName: 'roost command', poolSize: 2 }
  const database = await openDatabase(options).catch(explained)
  try {
    await database.check().catch((error: unknown) => {
      const { message } = failedConnection(url, error)
      throw new CliFailure(message, { cause: error })
    })
    await migrate(database).catch(explained)
    return await work(database)
  } finally {
    await database.close()
  }
}

/** Throws the error as one for the reader of the command, if the database can not be used. */
function explained(error: unknown): never {
  throw error instanceof UnusableDatabase ? new CliFailure(error.message, { cause: error }) : error
}
