import { randomUUID } from 'node:crypto'
import type { Asker } from '../../domain/event/asker.ts'
import { UserEventKind } from '../../domain/event/user-event-kind.ts'
import { nameSuffixLength } from '../../domain/object-name.ts'
import { actionInWords } from '../../domain/schedule/action.ts'
import type { ScheduleAction } from '../../domain/schedule/action.ts'
import type { ScheduleSettings } from '../../domain/schedule/settings.ts'
import { lockUser } from '../account/user-lock.ts'
import type { Database } from '../database.ts'
import { eventObject, writeEvents } from '../event/write.ts'
import { json } from '../postgres-client.ts'
import { randomSuffix } from '../random-suffix.ts'
import { Refused, orRefusal } from '../refused.ts'
import type { WriteRefusal } from '../refused.ts'
import type { SecretBox } from '../secret-box.ts'
import { scheduleColumns, sealScheduleEnv } from './row.ts'
import type { ScheduleRow, Variables } from './row.ts'

export interface NewSchedule extends Omit<ScheduleSettings, 'scheduleUuid' | 'name' | 'version'> {
  /** Absent: generated. */
  readonly name?: string
  readonly action: ScheduleAction
  readonly env: Variables
  readonly asker: Asker
}

export type ScheduleOutcome =
  | { readonly ok: true; readonly schedule: ScheduleRow }
  | { readonly ok: false; readonly refusal: WriteRefusal }

/** Writes a schedule under the lock of the user's row. Temporal does not hear of it here. */
export async function createSchedule(
  { database, secretBox }: { readonly database: Database; readonly secretBox: SecretBox },
  wanted: NewSchedule,
  limit: number,
): Promise<ScheduleOutcome> {
  const { userUuid, cron, timeZone, paused, catchUpS, overlap, action } = wanted
  const written = await orRefusal(() =>
    database.db.transaction().execute(async (db) => {
      await lockUser(db, userUuid)
      const present = await db
        .selectFrom('schedules')
        .select('name')
        .where('userUuid', '=', userUuid)
        .where('deletedAt', 'is', null)
        .execute()
      if (present.length >= limit) throw new Refused({ kind: 'too-many-schedules', limit })
      const name = wanted.name ?? `schedule-${randomSuffix(nameSuffixLength)}`
      if (present.some((other) => other.name === name))
        throw new Refused({ kind: 'schedule-name-taken', name })
      const uuid = randomUUID()
      const envSealed = sealScheduleEnv(secretBox, uuid, wanted)
      const row = { uuid, userUuid, name, cron, timeZone, paused, catchUpS, overlap, envSealed }
      const schedule = await db
        .insertInto('schedules')
        .values({ ...row, action: json(action) })
        .returning(scheduleColumns)
        .executeTakeFirstOrThrow()
      await writeEvents(db, [
        {
          ...eventObject(schedule),
          kind: UserEventKind.ScheduleCreated,
          why: `it was asked for, and ${actionInWords(action)} at '${cron}' in ${timeZone}`,
          asker: wanted.asker,
        },
      ])
      return schedule
    }),
  )
  return written.ok ? { ok: true, schedule: written.value } : written
}
