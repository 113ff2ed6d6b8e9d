import type { Asker } from '../../domain/event/asker.ts'
import { UserEventKind } from '../../domain/event/user-event-kind.ts'
import type { ScheduleAction } from '../../domain/schedule/action.ts'
import { SchedulePart } from '../../domain/schedule/part.ts'
import type { ScheduleSettings } from '../../domain/schedule/settings.ts'
import type { Database } from '../database.ts'
import { eventObject, writeEvents } from '../event/write.ts'
import { json } from '../postgres-client.ts'
import type { Db } from '../schema/tables.ts'
import type { SecretBox } from '../secret-box.ts'
import { now } from '../sql/time.ts'
import { openScheduleEnv, scheduleColumns, sealScheduleEnv } from './row.ts'
import type { ScheduleRow, Variables } from './row.ts'

/** What a change replaces. What is absent stays as it is. */
export type ScheduleChange = Partial<
  Pick<ScheduleSettings, 'cron' | 'timeZone' | 'paused' | 'catchUpS' | 'overlap'>
> & {
  readonly action?: { readonly action: ScheduleAction; readonly env: Variables }
}

export interface ScheduleChanged {
  readonly schedule: ScheduleRow
  readonly changed: readonly SchedulePart[]
}

/** The columns of the parts that Temporal's schedule has, too. */
const toldParts = {
  [SchedulePart.Cron]: 'cron',
  [SchedulePart.TimeZone]: 'timeZone',
  [SchedulePart.Paused]: 'paused',
  [SchedulePart.CatchUp]: 'catchUpS',
  [SchedulePart.Overlap]: 'overlap',
} as const

/**
 * Changes a schedule under the lock of its row, and writes the event. Nothing is written if nothing differs.
 * Temporal does not hear of it here. Undefined if the user has no such schedule.
 */
export async function changeSchedule(
  { database, secretBox }: { readonly database: Database; readonly secretBox: SecretBox },
  { uuid, userUuid, asker }: { readonly uuid: string; readonly userUuid: string; readonly asker: Asker },
  change: ScheduleChange,
): Promise<ScheduleChanged | undefined> {
  return database.db.transaction().execute(async (db) => {
    const before = await lockSchedule(db, { uuid, userUuid })
    if (before === undefined) return undefined
    const told = Object.entries(toldParts).flatMap(([part, column]) =>
      change[column] === undefined || change[column] === before[column] ? [] : [part as SchedulePart],
    )
    const changed = actionDiffers(secretBox, before, change) ? [...told, SchedulePart.Action] : told
    if (changed.length === 0) return { schedule: before, changed }
    const { action: wanted, ...columns } = change
    const schedule = await db
      .updateTable('schedules')
      .set({
        ...columns,
        ...(wanted && {
          action: json(wanted.action),
          envSealed: sealScheduleEnv(secretBox, uuid, wanted),
        }),
        ...(told.length > 0 && { version: before.version + 1, changedAt: now }),
      })
      .where('uuid', '=', uuid)
      .returning(scheduleColumns)
      .executeTakeFirstOrThrow()
    const why = `a change of ${changed.join(', ')} was asked for`
    await writeEvents(db, [
      { ...eventObject(schedule), kind: UserEventKind.ScheduleChanged, why, asker, facts: factsOf(changed) },
    ])
    return { schedule, changed }
  })
}

/** Which parts changed. The values are left out, because variables may be secrets. */
function factsOf(changed: readonly SchedulePart[]): { readonly changed: string } {
  return { changed: changed.join(',') }
}

function actionDiffers(box: SecretBox, row: ScheduleRow, { action: wanted }: ScheduleChange): boolean {
  if (wanted === undefined) return false
  const text = (action: ScheduleAction, env: Variables) => json([sorted(action), sorted(env)])
  return text(row.action, openScheduleEnv(box, row)) !== text(wanted.action, wanted.env)
}

/** The value with its keys in one order, because PostgreSQL does not keep the order of `jsonb`. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, one]) => [key, sorted(one)]))
}

/** Locks the row of a schedule that is not deleted. */
export async function lockSchedule(
  db: Db,
  { uuid, userUuid }: { readonly uuid: string; readonly userUuid?: string },
): Promise<ScheduleRow | undefined> {
  return db
    .selectFrom('schedules')
    .select(scheduleColumns)
    .where('uuid', '=', uuid)
    .where('deletedAt', 'is', null)
    .$if(userUuid !== undefined, (query) => query.where('userUuid', '=', userUuid!))
    .forUpdate()
    .executeTakeFirst()
}
