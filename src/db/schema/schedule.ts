import { defineEntity, p } from '@mikro-orm/postgresql'
import type { ScheduleAction } from '../../domain/schedule/action.ts'
import { OverlapPolicy } from '../../domain/schedule/overlap.ts'
import { User } from './user.ts'

/**
 * A schedule of a user. The row is the truth. Temporal's schedule is made from it and brought up to date
 * after each change. A row with `deletedAt` is invisible to every reader. It stays until Temporal's
 * schedule is deleted.
 */
export const Schedule = defineEntity({
  name: 'Schedule',
  tableName: 'schedules',
  indexes: [
    {
      name: 'schedules_page_index',
      expression:
        'create index schedules_page_index on schedules (user_uuid, position) where deleted_at is null',
    },
    {
      name: 'schedules_untold_index',
      expression:
        'create index schedules_untold_index on schedules (changed_at) where told_version < version and deleted_at is null',
    },
    {
      name: 'schedules_deleted_index',
      expression:
        'create index schedules_deleted_index on schedules (deleted_at) where deleted_at is not null',
    },
  ],
  uniques: [
    {
      name: 'schedules_name_unique',
      expression:
        'create unique index schedules_name_unique on schedules (user_uuid, name) where deleted_at is null',
    },
  ],
  properties: {
    uuid: p.uuid().primary(),
    /** The order of creation, which is the order of every list. */
    position: p.bigint('number').autoincrement(),
    user: () => p.manyToOne(User),
    name: p.text(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    changedAt: p.datetime(3).defaultRaw('now()'),
    deletedAt: p.datetime(3).nullable(),
    /** As the user wrote it. */
    cron: p.text(),
    timeZone: p.text(),
    paused: p.boolean(),
    catchUpS: p.integer(),
    overlap: p.enum(() => OverlapPolicy),
    action: p.json<ScheduleAction>(),
    /** The variables of a run, sealed by the secret box. Null: the action is no run. */
    envSealed: p.text().nullable(),
    /** Grows with every change that Temporal's schedule has to follow. */
    version: p.integer().default(1),
    /** The version that Temporal's schedule has. */
    toldVersion: p.integer().default(0),
  },
})
