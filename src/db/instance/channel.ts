/** Where PostgreSQL tells of instances and volumes that changed; the payload is the uuid. */
export const instanceChannel = 'roost_instance'

/**
 * A select over a `returning` clause named `changed` that notifies once the transaction commits. One row,
 * always.
 */
export function notifyInstanceSql(changed: string): string {
  return `select count(pg_notify('${instanceChannel}', uuid::text)) from ${changed}`
}
