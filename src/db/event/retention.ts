import type { Database } from '../database.ts'
import type { Db } from '../schema/tables.ts'
import { ago } from '../sql/time.ts'
import { isBeside, nextTransaction } from './place.ts'

/** How many events one statement deletes at most, so that none takes long. */
const deletedAtOnce = 5_000
const dayMs = 86_400_000

export interface EventRetention {
  readonly days: number
  /** The most events of one user, so that no user fills the disk. */
  readonly perUser: number
}

/**
 * Deletes events that are too old, and the oldest ones of users that have too many. Returns how many were
 * deleted. Any number of processes may call this at any time.
 */
export async function forgetEvents({ db }: Database, { days, perUser }: EventRetention): Promise<number> {
  let deleted = await untilNone(() => deleteOld(db, days))
  const users = await db.selectFrom('users').select('uuid').execute()
  for (const { uuid } of users) deleted += await untilNone(() => deleteBeyond(db, uuid, perUser))
  return deleted
}

/** Deletes some of the oldest events, if they are too old. */
async function deleteOld(db: Db, days: number): Promise<bigint> {
  const { numDeletedRows } = await db
    .deleteFrom('events')
    .where('position', 'in', (eb) =>
      eb.selectFrom('events').select('position').orderBy('position').limit(deletedAtOnce),
    )
    .where('at', '<', ago(days * dayMs))
    .executeTakeFirst()
  return numDeletedRows
}

/** Deletes some of the oldest events of a user who has more than `kept`. */
async function deleteBeyond(db: Db, userUuid: string, kept: number): Promise<bigint> {
  const newest = await db
    .selectFrom('events')
    .select(['xid', 'position'])
    .where('userUuid', '=', userUuid)
    .orderBy('xid', 'desc')
    .orderBy('position', 'desc')
    .offset(kept)
    .limit(1)
    .executeTakeFirst()
  if (newest === undefined) return 0n
  const { numDeletedRows } = await db
    .deleteFrom('events')
    .where('position', 'in', (eb) =>
      eb
        .selectFrom('events')
        .select('position')
        .where('userUuid', '=', userUuid)
        .where(isBeside('<=', newest))
        .orderBy('xid')
        .orderBy('position')
        .limit(deletedAtOnce),
    )
    .executeTakeFirst()
  return numDeletedRows
}

async function untilNone(step: () => Promise<bigint>): Promise<number> {
  let deleted = 0
  for (;;) {
    const count = Number(await step())
    deleted += count
    if (count < deletedAtOnce) return deleted
  }
}

/**
 * Keeps the order of events after the database was restored on another server. Transactions are counted anew
 * there, so that new events would come before the old ones. Called once when a process starts.
 */
export async function keepEventOrder({ db }: Database): Promise<void> {
  await db
    .updateTable('events')
    .set({ xid: '0' })
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom(eb.selectFrom('events').select('xid').orderBy('position', 'desc').limit(1).as('newest'))
          .select('newest.xid')
          .where('newest.xid', '>=', nextTransaction),
      ),
    )
    .execute()
}
