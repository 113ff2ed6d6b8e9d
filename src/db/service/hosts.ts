import type { Database } from '../database.ts'

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
