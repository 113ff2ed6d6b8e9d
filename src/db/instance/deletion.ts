import type { ExpressionBuilder } from 'kysely'
import { jsonArrayFrom as listOf } from 'kysely/helpers/postgres'
import { UserEventKind } from '../../domain/event/user-event-kind.ts'
import { eventObject, writeEvents } from '../event/write.ts'
import type { NewEvent } from '../event/write.ts'
import type { Db, Tables } from '../schema/tables.ts'
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
 * - A service that is not persistent. If a second instance was attached meanwhile, the service stays.
 * - A volume that is not persistent. It is only marked: its row stays until the host has removed the volume.
 *   A volume that was detached meanwhile is persistent, and the instance does not name it any more.
 * - The configuration of which the instance is the master, and its clones. The clones do not drain, because
 *   the master itself does not.
 *
 * The caller tells the workflows of all of them; the sweep tells those that were not told.
 */
export async function markInstanceDeleted(
  db: Db,
  wanted: { readonly uuid: string; readonly userUuid?: string; readonly reason: DeletionReason },
): Promise<InstanceRow | undefined> {
  await lockOwner(db, wanted.uuid)
  const marked = await markWithOthers(db, wanted)
  if (marked === undefined) return undefined
  const { gone, taken, clones, unconfigured, ...row } = marked
  await writeEvents(db, deletionEvents(row, { gone, taken, clones, unconfigured }, wanted.reason))
  return row
}

/** Marks several instances deleted, each as `markInstanceDeleted` does. Returns the rows as they were. */
export async function markInstancesDeleted(
  db: Db,
  instances: readonly { readonly uuid: string }[],
  reason: DeletionReason,
): Promise<readonly InstanceRow[]> {
  const deleted: InstanceRow[] = []
  for (const { uuid } of instances) {
    const row = await markInstanceDeleted(db, { uuid, reason })
    if (row !== undefined) deleted.push(row)
  }
  return deleted
}

/** Marks everything in one statement. */
async function markWithOthers(
  db: Db,
  wanted: { readonly uuid: string; readonly userUuid?: string },
): Promise<(InstanceRow & DeletedWith) | undefined> {
  return markedWithoutClones(db, wanted)
    .with('clones', (db) =>
      db
        .updateTable('instances as clone')
        .from('marked')
        .set({ deletedAt: now })
        .whereRef('clone.serviceUuid', '=', 'marked.serviceUuid')
        .whereRef('clone.cloneOf', '=', 'marked.uuid')
        .where('clone.deletedAt', 'is', null)
        .returning(['clone.uuid', 'clone.name']),
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
    .select(({ selectFrom }) => [
      listOf(selectFrom('gone').select(['uuid', 'name'])).as('gone'),
      listOf(selectFrom('taken').select(['uuid', 'name'])).as('taken'),
      listOf(selectFrom('clones').select(['uuid', 'name'])).as('clones'),
      listOf(selectFrom('unconfigured').select(['uuid', 'name'])).as('unconfigured'),
    ])
    .executeTakeFirst()
}

/** The other instances of the service that goes with the marked one. */
function othersOf(eb: ExpressionBuilder<Tables & { marked: InstanceRow }, 'services' | 'marked'>) {
  return eb
    .selectFrom('instances as other')
    .whereRef('other.serviceUuid', '=', 'services.uuid')
    .whereRef('other.uuid', '<>', 'marked.uuid')
    .where('other.deletedAt', 'is', null)
    .select('other.uuid')
}

/** The beginning of that statement: the instance, and what has no instances of its own. */
function markedWithoutClones(
  db: Db,
  { uuid, userUuid }: { readonly uuid: string; readonly userUuid?: string },
) {
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
        // A rollout attaches a second instance for a while.
        .where((eb) => eb.not(eb.exists(othersOf(eb))))
        .returning(['services.uuid', 'services.name']),
    )
    .with('taken', (db) =>
      db
        .updateTable('volumes')
        .from('marked')
        .set({ deletedAt: now })
        .whereRef('volumes.uuid', '=', 'marked.volumeUuid')
        .where('volumes.persistent', '=', false)
        .where('volumes.deletedAt', 'is', null)
        .returning(['volumes.uuid', 'volumes.name']),
    )
    .with('unconfigured', (db) =>
      db
        .updateTable('autoscaleConfigurations as configuration')
        .from(['marked', 'services'])
        .set({ deletedAt: now })
        .whereRef('configuration.masterUuid', '=', 'marked.uuid')
        .whereRef('configuration.serviceUuid', '=', 'services.uuid')
        .where('configuration.deletedAt', 'is', null)
        .returning(['services.uuid', 'services.name']),
    )
}

/** Why an instance is deleted, and who asked for it. */
export type DeletionReason = Pick<NewEvent, 'why' | 'asker'>

interface Named {
  readonly uuid: string
  readonly name: string
}

interface DeletedWith {
  readonly gone: readonly Named[]
  readonly taken: readonly Named[]
  readonly clones: readonly Named[]
  /** The services that are not autoscaled any more. */
  readonly unconfigured: readonly Named[]
}

function deletionEvents(row: InstanceRow, others: DeletedWith, reason: DeletionReason): readonly NewEvent[] {
  const { userUuid, name, state } = row
  const { asker } = reason
  const about = (kind: UserEventKind, objects: readonly Named[], why: string) =>
    objects.map((object) => ({ ...eventObject({ ...object, userUuid }), kind, why, asker }))
  return [
    { ...eventObject(row), kind: UserEventKind.InstanceDeleted, from: state, ...reason },
    ...about(UserEventKind.AutoscaleDeleted, others.unconfigured, `its master ${name} is deleted`),
    ...about(UserEventKind.InstanceDeleted, others.clones, `its master ${name} is deleted`),
    ...about(UserEventKind.ServiceDeleted, others.gone, `it was made for ${name}, which is deleted`),
    ...about(UserEventKind.VolumeDeleted, others.taken, `it was made for ${name}, which is deleted`),
  ]
}

async function lockOwner(db: Db, uuid: string): Promise<void> {
  await db
    .selectFrom('users')
    .select('uuid')
    .where('uuid', '=', (eb) => eb.selectFrom('instances').select('userUuid').where('uuid', '=', uuid))
    .forKeyShare()
    .execute()
}
