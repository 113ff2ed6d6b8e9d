import type { Database } from './database.ts'
import { ago, now } from './sql/time.ts'

/** How long an address counts after its API was heard for the last time. */
const silentMs = 60_000

/** Notes that an API answers machines that joined at this address. */
export async function renewApiAddress({ db }: Database, address: string): Promise<void> {
  await db
    .insertInto('apiAddresses')
    .values({ address, heardAt: now })
    .onConflict((conflict) => conflict.column('address').doUpdateSet({ heardAt: now }))
    .execute()
  await db.deleteFrom('apiAddresses').where('heardAt', '<', ago(silentMs)).execute()
}

/** The addresses at which an API was heard lately, in an order that does not change. */
export async function listApiAddresses({ db }: Database): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('apiAddresses')
    .select('address')
    .where('heardAt', '>=', ago(silentMs))
    .orderBy('address')
    .execute()
  return rows.map(({ address }) => address)
}
