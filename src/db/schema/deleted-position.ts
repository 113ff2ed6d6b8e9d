import { defineEntity, p } from '@mikro-orm/postgresql'

/**
 * Where a deleted object stood in its list, so that a page can begin behind the object. A trigger writes
 * these rows and removes the oldest ones; `src/db/list-position.ts` explains why.
 */
export const DeletedPosition = defineEntity({
  name: 'DeletedPosition',
  tableName: 'deleted_positions',
  indexes: [
    {
      name: 'deleted_positions_owner_index',
      expression:
        'create unique index deleted_positions_owner_index on deleted_positions (user_uuid, list, number)',
    },
  ],
  properties: {
    uuid: p.uuid().primary(),
    /** The order of deletion. */
    number: p.bigint('number').autoincrement(),
    /** The name of the object's table. */
    list: p.text(),
    userUuid: p.uuid(),
    position: p.bigint('number'),
  },
})
