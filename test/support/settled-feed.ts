import type { Database } from '../../src/db/database.ts'
import { until } from './until.ts'
import { readRows } from './rows.ts'

/** The longest wait. Only a hang takes as long. */
const limitMs = 30_000

/**
 * Reads the feed until every transaction that began before this call has ended. A later read from the
 * returned revision then repeats no row. Transactions of all databases of a server count, so those of other
 * tests would otherwise make a feed repeat rows.
 */
export async function settledFeed<Read extends { readonly revision: string }>(
  database: Database,
  read: () => Promise<Read>,
): Promise<Read> {
  const [next] = await readRows<{ xid: string }>(database, {
    text: 'select pg_snapshot_xmax(pg_current_snapshot())::text as xid',
  })
  return until(
    'all that began before is over',
    async () => {
      const seen = await read()
      return oldestUnderWay(seen.revision) >= BigInt(next?.xid ?? 0) && seen
    },
    { limitMs },
  )
}

function oldestUnderWay(revision: string): bigint {
  return BigInt(revision.slice(revision.indexOf('.') + 1))
}
