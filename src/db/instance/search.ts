import type { Database } from '../database.ts'
import { instanceColumns } from './row.ts'
import type { InstanceRow } from './row.ts'

export interface OwnedInstance extends InstanceRow {
  readonly userName: string
}

/**
 * How many instances are found at most. A longer list would not help to tell instances of one name apart.
 */
const maxFound = 20

/**
 * For administrators: the instances with this name, of every user or of `userName` alone, in the order of
 * their creation.
 */
export async function findByName(
  { db }: Database,
  wanted: { readonly name: string; readonly userName?: string },
): Promise<readonly OwnedInstance[]> {
  const { name, userName } = wanted
  const found = db
    .selectFrom('instances')
    .select(instanceColumns)
    .where('name', '=', name)
    .where('deletedAt', 'is', null)
  return db
    .selectFrom(found.as('found'))
    .innerJoin('users', 'users.uuid', 'found.userUuid')
    .selectAll('found')
    .select('users.name as userName')
    .$if(userName !== undefined, (query) => query.where('users.name', '=', userName!))
    .orderBy('found.position')
    .limit(maxFound)
    .execute()
}
