import { defineEntity, p } from '@mikro-orm/postgresql'
import { VolumePhase } from '../../domain/volume/state.ts'
import { Node } from './node.ts'
import { User } from './user.ts'

/**
 * Persistent storage of a user. It is on the host of the instance that has it: `moveRow` names another host
 * in both rows. The row of an instance says which volume that instance has. A row with `deletedAt` is
 * invisible to every reader. It stays until the host has removed the volume.
 */
export const Volume = defineEntity({
  name: 'Volume',
  tableName: 'volumes',
  indexes: [
    {
      name: 'volumes_page_index',
      expression: 'create index volumes_page_index on volumes (user_uuid, position) where deleted_at is null',
    },
    {
      name: 'volumes_unstarted_index',
      expression:
        'create index volumes_unstarted_index on volumes (created_at) where workflow_started_at is null',
    },
    {
      name: 'volumes_deleted_index',
      expression: 'create index volumes_deleted_index on volumes (deleted_at) where deleted_at is not null',
    },
  ],
  uniques: [
    {
      name: 'volumes_name_unique',
      expression:
        'create unique index volumes_name_unique on volumes (user_uuid, name) where deleted_at is null',
    },
  ],
  properties: {
    uuid: p.uuid().primary(),
    /** The order of creation, which is the order of every list. */
    position: p.bigint('number').autoincrement(),
    user: () => p.manyToOne(User),
    node: () => p.manyToOne(Node).index('volumes_node_index'),
    name: p.text(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    deletedAt: p.datetime(3).nullable(),
    workflowStartedAt: p.datetime(3).nullable(),
    sizeMb: p.integer(),
    /** False: the volume was made with an instance and is deleted with it, unless it is detached before. */
    persistent: p.boolean(),

    /** From here on: the projection of the life, which the workflow writes. */
    revision: p.bigint('number').default(0),
    phase: p.enum(() => VolumePhase).default(VolumePhase.Uninitialized),
    /** Whether the file system was complete once. From then on the file is never formatted again. */
    made: p.boolean().default(false),
    /** The reason if the phase is `error`. */
    failure: p.text().nullable(),
  },
})
