import type { Db } from '../schema/tables.ts'
import { now } from '../sql/time.ts'
import { countNotified } from './channel.ts'
import { instanceColumns } from './row.ts'
import type { InstanceRow } from './row.ts'

/**
 * Marks an instance deleted, and with it the objects that were made for it alone. Returns the row as it was.
 * Undefined if the instance is deleted already, or is not this user's. Needs a transaction of its own.
 *
 * The user's row is locked first, as it is for a new instance. So a transaction that attaches a second
 * instance to a service and one that deletes the first instance run one after the other. Without this lock
 * they would wait for each other. The first transaction has locked the user and waits for the service. The
 * second has locked the service and waits for the user: when it deletes the service, the instance's
 * reference to the service is cleared, and PostgreSQL then checks all foreign keys of the instance's row
 * again, because this same transaction changed the row before. The lock is a statement of its own, because
 * only a statement that begins after the lock was taken sees the clones that were made before it.
 *
 * Marked or deleted with the instance:
 * - A service that is not persistent. If a second instance was attached meanwhile, the service is persistent
 *   by now and stays.
 * - A volume that is not persistent. It is only marked: its row stays until the host has removed the volume.
 *   A volume that was detached meanwhile is persistent, and the instance does not name it any more.
 * - The configuration of which the instance is the master, and its clones. The clones do not drain, because
 *   the master itself does not.
 *
 * The caller tells the workflows of all of them; the sweep tells those that were not told.
 */
export async function markInstanceDeleted(
  db: Db,
  { uuid, userUuid }: { readonly uuid: string; readonly userUuid?: string },
): Promise<InstanceRow | undefined> {
  await lockOwner(db, uuid)
  return db
    .with('marked', (db) =>
      db
        .updateTable('instances')
        .set({ deletedAt: now })
        .where('uuid', '=', uuid)
        .$if(userUuid !== undefined, (query) => query.where('userUuid', '=', userUuid!))
        .where('deletedAt', 'is', null)
        .returning(instanceColumns),
    )
    .with('gone', (db) =>
      db
        .deleteFrom('services')
        .using('marked')
        .whereRef('services.uuid', '=', 'marked.serviceUuid')
        .where('services.persistent', '=', false)
        .returning('services.uuid'),
    )
    .with('taken', (db) =>
      db
        .updateTable('volumes')
        .from('marked')
        .set({ deletedAt: now })
        .whereRef('volumes.uuid', '=', 'marked.volumeUuid')
        .where('volumes.persistent', '=', false)
        .where('volumes.deletedAt', 'is', null)
        .returning('volumes.uuid'),
    )
    .with('unconfigured', (db) =>
      db
        .updateTable('autoscaleConfigurations as configuration')
        .from('marked')
        .set({ deletedAt: now })
        .whereRef('configuration.masterUuid', '=', 'marked.uuid')
        .where('configuration.deletedAt', 'is', null)
        .returning('configuration.serviceUuid'),
    )
    .with('clones', (db) =>
      db
        .updateTable('instances as clone')
        .from('marked')
        .set({ deletedAt: now })
        .whereRef('clone.serviceUuid', '=', 'marked.serviceUuid')
        .whereRef('clone.cloneOf', '=', 'marked.uuid')
        .where('clone.deletedAt', 'is', null)
        .returning('clone.uuid'),
    )
    .with('notified', (db) =>
      db
        .selectFrom(
          db
            .selectFrom('marked')
            .select('uuid')
            .unionAll(db.selectFrom('clones').select('uuid'))
            .as('deleted'),
        )
        .select((eb) => countNotified(eb.ref('deleted.uuid')).as('count')),
    )
    .selectFrom(['marked', 'notified'])
    .selectAll('marked')
    .executeTakeFirst()
}

async function lockOwner(db: Db, uuid: string): Promise<void> {
  await db
    .selectFrom('users')
    .select('uuid')
    .where('uuid', '=', (eb) => eb.selectFrom('instances').select('userUuid').where('uuid', '=', uuid))
    .forKeyShare()
    .execute()
}
