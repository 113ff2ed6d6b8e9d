import type { ExpressionBuilder } from 'kysely'
import type { Db } from './schema/tables.ts'
import { wantedTexts } from './sql/lists.ts'

/**
 * Waits for the lock with this number and holds it until the transaction ends. Transactions that take the
 * same lock run one after the other.
 */
export async function takeLock(db: Db, lock: number): Promise<void> {
  await db.selectNoFrom((eb) => eb.fn('pg_advisory_xact_lock', [eb.val(lock)]).as('taken')).execute()
}

/**
 * A set of locks, one for each name. Two names may share a lock. The number that tells sets apart has no
 * other meaning.
 */
export const LockSet = { Placements: 7_070_004 } as const
export type LockSet = (typeof LockSet)[keyof typeof LockSet]

/**
 * Takes the first of these locks that is free, without waiting, and holds it until the transaction ends.
 * Returns its name. Undefined: all are taken.
 */
export async function takeFirstFree(
  db: Db,
  set: LockSet,
  names: readonly string[],
): Promise<string | undefined> {
  // PostgreSQL tries the names one after the other, and none after the one that it takes.
  const taken = await db
    .selectFrom(wantedTexts(names))
    .select('wanted.value')
    .where((eb) => eb.fn<boolean>('pg_try_advisory_xact_lock', [eb.val(set), keyOf(eb)]))
    .limit(1)
    .executeTakeFirst()
  return taken?.value
}

/**
 * Waits for all of these locks and holds them until the transaction ends. They are taken in a fixed order, so
 * that transactions that hold no lock of the set before never wait for each other.
 */
export async function takeAll(db: Db, set: LockSet, names: readonly string[]): Promise<void> {
  await db
    .selectFrom((eb) =>
      eb
        .selectFrom(wantedTexts(names))
        .select((of) => keyOf(of).as('key'))
        .distinct()
        .orderBy('key')
        .as('keys'),
    )
    .select((eb) => eb.fn('pg_advisory_xact_lock', [eb.val(set), 'keys.key']).as('taken'))
    .execute()
}

function keyOf(eb: ExpressionBuilder<{ wanted: { readonly value: string } }, 'wanted'>) {
  return eb.fn<number>('hashtext', ['wanted.value'])
}
