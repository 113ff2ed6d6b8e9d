import type { Database } from '../database.ts'
import { instanceColumns } from './row.ts'
import type { InstanceRow } from './row.ts'

export interface OwnedInstance extends InstanceRow {
  readonly userName: string
}

/** More of one name are not told apart by listing them. */
const maxFound = 20

/**
 * For administrators: every user's instance of that name, or of `userName` alone, in the order of their
 * creation.
 */
export async function findByName(
  database: Database,
  wanted: { readonly name: string; readonly userName?: string },
): Promise<readonly OwnedInstance[]> {
  return database.rows<OwnedInstance>({
    name: 'instances-by-name',
    text: `select found.*, users.name as "userName"
           from (select ${instanceColumns} from instances where name = $1 and deleted_at is null) as found
             join users on users.uuid = found."userUuid"
           where $2::text is null or users.name = $2 order by found.position limit $3`,
    values: [wanted.name, wanted.userName ?? null, maxFound],
  })
}
