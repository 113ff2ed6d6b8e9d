import { openDatabase } from '../db/database.ts'
import type { Database } from '../db/database.ts'
import { UnknownDatabase, migrate } from '../db/schema/migrate.ts'
import { CliFailure } from './cli-failure.ts'

/**
 * Opens a connection for the work of one command. A new database gets its schema, so that users can be made
 * before the first start.
 */
export async function withDatabase<T>(url: string, work: (database: Database) => Promise<T>): Promise<T> {
  const database = await openDatabase({ url, applicationName: 'roost command', poolSize: 2 })
  try {
    await database.check().catch((error: unknown) => {
      throw new CliFailure(`the database at ${placeOf(url)} does not answer: ${reasonOf(error)}`, {
        cause: error,
      })
    })
    await migrate(database).catch((error: unknown) => {
      throw error instanceof UnknownDatabase ? new CliFailure(error.message, { cause: error }) : error
    })
    return await work(database)
  } finally {
    await database.close()
  }
}

/** The address of the database, without the password. */
function placeOf(url: string): string {
  const { host, pathname } = new URL(url)
  return `${host}${pathname}`
}

/** Node reports a refused connection to a name with several addresses as an aggregate without a message. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ')
  return error instanceof Error ? error.message : String(error)
}
