import type { Db } from '../schema/tables.ts'
import { now } from '../sql/time.ts'
import { countNotified } from './channel.ts'
import { instanceColumns } from './row.ts'
import type { InstanceRow } from './row.ts'

/**
 * Marks an instance deleted, and with it what was made with it alone. Answers the row as it was; undefined
 * where the instance is deleted already, or is not this user's. In a transaction of its own.
 *
 * First the user's row is locked as a new instance locks it, so that a transaction that attaches a second
 * instance to a service and one that deletes the first come one after the other. Without the lock they would
 * wait for each other: the one has the user and wants the service, the other has the service and wants the
 * user, because clearing the foreign key of a row that this very transaction has marked checks all its keys
 * again. The lock is a statement of its own: only what begins after the lock was got sees the clones that
 * were made before.
 *
 * What goes along:
 * - A service that is not persistent. Where a second instance was attached meanwhile, the service is
 *   persistent by now and stays.
 * - A volume that is not persistent. It is only marked: its row stays until the host is clean. A volume that
 *   was detached meanwhile is persistent, and the instance does not name it any more.
 * - The configuration of which the instance is the master, and its clones, without a drain, as the master
 *   itself has none. The workflows of all of them are to be told; the sweep repeats what was not told.
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
