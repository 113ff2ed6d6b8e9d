import type { Asker } from '../../domain/event/asker.ts'
import { UserEventKind } from '../../domain/event/user-event-kind.ts'
import type { ScheduleSettings } from '../../domain/schedule/settings.ts'
import type { Database } from '../database.ts'
import { eventObject, writeEvents } from '../event/write.ts'
import { markInstanceDeleted } from '../instance/deletion.ts'
import type { InstanceRow } from '../instance/row.ts'
import { ago, now } from '../sql/time.ts'
import type { SweepBounds } from '../workflow-rows.ts'
import { lockSchedule } from './change.ts'
import { scheduleColumns, scheduleSettings } from './row.ts'
import type { ScheduleRow } from './row.ts'

/** The settings of a schedule as its row has them now. Undefined if it is deleted. */
export async function readScheduleSettings(
  { db }: Database,
  uuid: string,
): Promise<ScheduleSettings | undefined> {
  const row = await db
    .selectFrom('schedules')
    .select(scheduleColumns)
    .where('uuid', '=', uuid)
    .where('deletedAt', 'is', null)
    .executeTakeFirst()
  return row && scheduleSettings(row)
}

/** Schedules of whose last change Temporal has not heard, longest unheard first. */
export async function findUntoldSchedules(
  { db }: Database,
  { olderThanMs, limit }: SweepBounds,
): Promise<readonly ScheduleSettings[]> {
  const rows = await db
    .selectFrom('schedules')
    .select(scheduleColumns)
    .where((eb) => eb('toldVersion', '<', eb.ref('version')))
    .where('deletedAt', 'is', null)
    .where('changedAt', '<', ago(olderThanMs))
    .orderBy('changedAt')
    .limit(limit)
    .execute()
  return rows.map(scheduleSettings)
}

/** Schedules that are marked deleted and whose row is still there, longest deleted first. */
export async function findDeletedSchedules(
  { db }: Database,
  { olderThanMs, limit }: SweepBounds,
): Promise<readonly ScheduleSettings[]> {
  const rows = await db
    .selectFrom('schedules')
    .select(scheduleColumns)
    .where('deletedAt', '<', ago(olderThanMs))
    .orderBy('deletedAt')
    .limit(limit)
    .execute()
  return rows.map(scheduleSettings)
}

/** Notes which version Temporal's schedule has. An older one is never noted over a newer one. */
export async function markScheduleTold({ db }: Database, uuid: string, version: number): Promise<void> {
  await db
    .updateTable('schedules')
    .set({ toldVersion: version })
    .where('uuid', '=', uuid)
    .where('toldVersion', '<', version)
    .execute()
}

/**
 * Marks the user's schedule deleted: readers do not see it any more, and its name is free. No run makes an
 * instance from then on. Returns the row as it was, and undefined if the user has no such schedule.
 */
export async function markScheduleDeleted(
  { db }: Database,
  { uuid, userUuid, asker }: { readonly uuid: string; readonly userUuid: string; readonly asker: Asker },
): Promise<ScheduleRow | undefined> {
  return db.transaction().execute(async (db) => {
    const row = await lockSchedule(db, { uuid, userUuid })
    if (row === undefined) return undefined
    await db.updateTable('schedules').set({ deletedAt: now }).where('uuid', '=', uuid).execute()
    const why = 'its deletion was asked for'
    await writeEvents(db, [{ ...eventObject(row), kind: UserEventKind.ScheduleDeleted, why, asker }])
    return row
  })
}

/**
 * Marks the instances deleted that runs of a deleted schedule made, and returns their rows. Nobody else
 * would delete them, because the runs end once they see that their schedule is gone. Idempotent.
 */
export async function deleteInstancesOfRuns(
  { db }: Database,
  uuid: string,
  asker: Asker,
): Promise<readonly InstanceRow[]> {
  const runs = await db
    .selectFrom('scheduleRuns')
    .innerJoin('instances', 'instances.uuid', 'scheduleRuns.instanceUuid')
    .select('instances.uuid')
    .where('scheduleRuns.scheduleUuid', '=', uuid)
    .where('instances.deletedAt', 'is', null)
    .execute()
  const reason = { why: 'the schedule that made it is deleted', asker }
  const deleted: InstanceRow[] = []
  for (const run of runs) {
    const row = await db.transaction().execute((db) => markInstanceDeleted(db, { uuid: run.uuid, reason }))
    if (row !== undefined) deleted.push(row)
  }
  return deleted
}

/**
 * Removes the row of a deleted schedule with its runs. Called once Temporal's schedule is gone. Idempotent.
 */
export async function removeScheduleRow({ db }: Database, uuid: string): Promise<void> {
  await db.deleteFrom('schedules').where('uuid', '=', uuid).where('deletedAt', 'is not', null).execute()
}
