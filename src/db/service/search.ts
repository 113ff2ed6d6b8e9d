import type { ExpressionBuilder } from 'kysely'
import { isUuid } from '../../domain/object-name.ts'
import type { Database } from '../database.ts'
import type { Tables } from '../schema/tables.ts'
import { selectServices } from './row.ts'
import type { ServiceRow } from './row.ts'

/** How many services are found at most. A longer list would not help to tell services of one name apart. */
const maxFound = 20

/** Whether a service has this UUID or this name. */
export function isServiceCalled(uuidOrName: string) {
  return (eb: ExpressionBuilder<Tables, 'services'>) => {
    const named = eb('services.name', '=', uuidOrName)
    // PostgreSQL would fail the query if the text is no UUID.
    return isUuid(uuidOrName) ? eb.or([eb('services.uuid', '=', uuidOrName), named]) : named
  }
}

/**
 * For administrators: the service that has this UUID, and all services that have this name, of every user or
 * of `userName` alone, in the order of their creation.
 */
export async function searchServices(
  { db }: Database,
  wanted: { readonly uuidOrName: string; readonly userName?: string },
): Promise<readonly ServiceRow[]> {
  const { uuidOrName, userName } = wanted
  return selectServices(db)
    .where(isServiceCalled(uuidOrName))
    .$if(userName !== undefined, (query) =>
      query.where('services.userUuid', 'in', (eb) =>
        eb.selectFrom('users').select('uuid').where('name', '=', userName!),
      ),
    )
    .orderBy('services.position')
    .limit(maxFound)
    .execute()
}
