import type { Database } from '../database.ts'
import type { Row } from '../schema/tables.ts'

/** The hosts that have an instance of the service, those that are being deleted included. */
export async function hostsOfService({ db }: Database, serviceUuid: string): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('instances')
    .select('nodeId')
    .distinct()
    .where('serviceUuid', '=', serviceUuid)
    .orderBy('nodeId')
    .execute()
  return rows.map(({ nodeId }) => nodeId)
}

/** An instance of the service that stands for all of them: the oldest that is no clone. */
export async function oldestOfService(
  { db }: Database,
  serviceUuid: string,
): Promise<Pick<Row<'instances'>, 'vcpus' | 'bootTimeUs'> | undefined> {
  return await db
    .selectFrom('instances')
    .select(['vcpus', 'bootTimeUs'])
    .where('serviceUuid', '=', serviceUuid)
    .where('deletedAt', 'is', null)
    .where('cloneOf', 'is', null)
    .orderBy('position')
    .limit(1)
    .executeTakeFirst()
}
