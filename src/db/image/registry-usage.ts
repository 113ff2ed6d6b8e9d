import type { Database } from '../database.ts'

/** The quota `registry_mb` of a user; undefined where there is no such user. */
export async function registryQuotaMb(database: Database, userName: string): Promise<number | undefined> {
  const [user] = await database.rows<{ quotaMb: number }>({
    name: 'registry-quota',
    text: `select hard_registry_mb as "quotaMb" from users where name = $1`,
    values: [userName],
  })
  return user?.quotaMb
}

/** Records what each user's images take in the registry: nothing where a user is not named. */
export async function recordRegistryUsage(
  database: Database,
  usage: ReadonlyMap<string, number>,
): Promise<void> {
  await database.rows({
    name: 'record-registry-usage',
    text: `update users set registry_bytes = held.bytes
             from (select users.uuid, coalesce(given.bytes, 0) as bytes
               from users left join unnest($1::text[], $2::bigint[]) as given (name, bytes) using (name)) as held
             where users.uuid = held.uuid and users.registry_bytes <> held.bytes`,
    values: [[...usage.keys()], [...usage.values()]],
  })
}
