import type { Db } from './schema/tables.ts'

/** Waits for a lock that belongs to the transaction. Transactions with the same number go one by one. */
export async function takeLock(db: Db, lock: number): Promise<void> {
  await db.selectNoFrom((eb) => eb.fn('pg_advisory_xact_lock', [eb.val(lock)]).as('taken')).execute()
}
