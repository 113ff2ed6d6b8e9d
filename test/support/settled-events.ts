import type { Database } from '../../src/db/database.ts'
import { oldestOpen } from '../../src/db/event/place.ts'
import { until } from './until.ts'

const limitMs = 20_000

/**
 * Resolves when readers see all events that are committed. An open transaction hides those after it, even one
 * of another database of the same PostgreSQL.
 */
export async function settledEvents({ db }: Database): Promise<void> {
  const { last } = await db
    .selectFrom('events')
    .select((eb) => eb.fn.max('xid').as('last'))
    .executeTakeFirstOrThrow()
  if (last === null) return
  await until(
    'the transactions before the newest event end',
    async () => {
      const { edge } = await db.selectNoFrom(oldestOpen.as('edge')).executeTakeFirstOrThrow()
      return BigInt(edge) > BigInt(last)
    },
    { limitMs },
  )
}
