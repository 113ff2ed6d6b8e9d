import type { Database } from './database.ts'
import { ago, now } from './sql/time.ts'

/** Notes that this worker runs. */
export async function renewWorker({ db }: Database, id: string): Promise<void> {
  await db
    .insertInto('workers')
    .values({ id, heardAt: now })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ heardAt: now }))
    .execute()
}

/** The workers that run, as far as is known. */
export async function listWorkers({ db }: Database): Promise<ReadonlySet<string>> {
  const rows = await db.selectFrom('workers').select('id').execute()
  return new Set(rows.map(({ id }) => id))
}

/**
 * Forgets the workers that were not heard for `silentMs`. Resolves with their number. Of several callers one
 * gets a worker.
 */
export async function forgetSilentWorkers({ db }: Database, silentMs: number): Promise<number> {
  const gone = await db.deleteFrom('workers').where('heardAt', '<', ago(silentMs)).returning('id').execute()
  return gone.length
}

/** Notes that this worker has stopped. */
export async function forgetWorker({ db }: Database, id: string): Promise<void> {
  await db.deleteFrom('workers').where('id', '=', id).execute()
}
