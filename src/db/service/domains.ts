import type { Db, Row } from '../schema/tables.ts'

/**
 * Writes domains. If some service has one of them already, returns the first such name; the caller then
 * rolls back or tries another name. Waits for transactions that are taking or releasing one of the names at
 * this moment. All transactions take names in the same order, so no two wait for each other.
 */
export async function takeDomains(db: Db, rows: readonly Row<'domains'>[]): Promise<string | undefined> {
  const sorted = rows.toSorted((one, other) => (one.fqdn < other.fqdn ? -1 : 1))
  const written = await db
    .insertInto('domains')
    .values(sorted)
    .onConflict((conflict) => conflict.column('fqdn').doNothing())
    .returning('fqdn')
    .execute()
  const own = new Set(written.map(({ fqdn }) => fqdn))
  return rows.find(({ fqdn }) => !own.has(fqdn))?.fqdn
}

/**
 * Writes the domains of a service in place of those that it had. Returns a name that another service has, as
 * `takeDomains` does. The caller's transaction has locked the service's row. Names are taken, changed and
 * released in one order, the same as in `takeDomains`: a transaction of another user may be waiting for a
 * name that is released here, and have one that is taken here.
 */
export async function replaceDomains(
  db: Db,
  {
    before,
    after,
  }: { readonly before: readonly Row<'domains'>[]; readonly after: readonly Row<'domains'>[] },
): Promise<string | undefined> {
  const had = new Map(before.map((row) => [row.fqdn, row]))
  const wanted = new Map(after.map((row) => [row.fqdn, row]))
  for (const fqdn of [...new Set([...had.keys(), ...wanted.keys()])].toSorted()) {
    const taken = await replaceDomain(db, { had: had.get(fqdn), wanted: wanted.get(fqdn) })
    if (taken !== undefined) return taken
  }
  return undefined
}

async function replaceDomain(
  db: Db,
  { had, wanted }: { readonly had: Row<'domains'> | undefined; readonly wanted: Row<'domains'> | undefined },
): Promise<string | undefined> {
  if (had === undefined) return wanted && takeDomains(db, [wanted])
  const { fqdn } = had
  if (wanted === undefined) {
    await db.deleteFrom('domains').where('fqdn', '=', fqdn).execute()
    return undefined
  }
  const { ordinal, certificateUuid } = wanted
  if (ordinal === had.ordinal && certificateUuid === had.certificateUuid) return undefined
  await db.updateTable('domains').set({ ordinal, certificateUuid }).where('fqdn', '=', fqdn).execute()
  return undefined
}
