import type { Database } from '../database.ts'

/** The quota `registry_mb` of a user; undefined if there is no such user. */
export async function registryQuotaMb({ db }: Database, userName: string): Promise<number | undefined> {
  const user = await db
    .selectFrom('users')
    .select('hardRegistryMb')
    .where('name', '=', userName)
    .executeTakeFirst()
  return user?.hardRegistryMb
}

/**
 * Records the size of each user's images in the registry. The size is 0 for users who are not in `usage`.
 */
export async function recordRegistryUsage(
  { db }: Database,
  usage: ReadonlyMap<string, number>,
): Promise<void> {
  const users = await db.selectFrom('users').select(['uuid', 'name', 'registryBytes']).execute()
  for (const { uuid, name, registryBytes } of users) {
    const measured = usage.get(name) ?? 0
    if (measured === registryBytes) continue
    await db.updateTable('users').set({ registryBytes: measured }).where('uuid', '=', uuid).execute()
  }
}
