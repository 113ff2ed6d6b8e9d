import type { Database } from '../db/database.ts'

/**
 * How long the database may take to answer. A healthy database never needs this long, and a probe waits
 * longer.
 */
const checkTimeoutMs = 2_000

/** Whether the database answers now. Never throws. */
export async function databaseAnswers(database: Pick<Database, 'check'>): Promise<boolean> {
  const late = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => late.resolve(false), checkTimeoutMs)
  const check = database.check().then(
    () => true,
    () => false,
  )
  try {
    return await Promise.race([check, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
