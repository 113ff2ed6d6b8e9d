import type { Db } from './schema/tables.ts'

/**
 * Waits for the lock with this number and holds it until the transaction ends. Transactions that take the
 * same lock run one after the other.
 */
export async function takeLock(db: Db, lock: number): Promise<void> {
  await db.selectNoFrom((eb) => eb.fn('pg_advisory_xact_lock', [eb.val(lock)]).as('taken')).execute()
}
