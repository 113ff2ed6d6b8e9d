import type { Database } from '../db/database.ts'
import { workflowSettings } from '../db/instance/settings.ts'
import {
  deleteInstancesOfRuns,
  markScheduleTold,
  readScheduleSettings,
  removeScheduleRow,
} from '../db/schedule/records.ts'
import { thePlatform } from '../domain/event/asker.ts'
import type { Asker } from '../domain/event/asker.ts'
import type { ScheduleSettings } from '../domain/schedule/settings.ts'
import type { InstanceControl } from './instance-control.ts'
import type { ScheduleControl } from './schedule-control.ts'

// What the API does right after a change of a schedule's row, and the sweep if the API could not.

interface ScheduleParts {
  readonly database: Database
  readonly schedules: ScheduleControl
}

/** More changes at once than this are left to the sweep. */
const mostRounds = 5

/**
 * Brings Temporal's schedule up to date. If the row changed meanwhile, it is applied again: of two callers,
 * the one with the older version may come last. Throws `ControlUnavailable`.
 */
export async function tellSchedule(parts: ScheduleParts, given: ScheduleSettings): Promise<void> {
  let settings: ScheduleSettings | undefined = given
  for (let round = 0; settings !== undefined && round < mostRounds; round++) {
    await parts.schedules.apply(settings)
    await markScheduleTold(parts.database, settings.scheduleUuid, settings.version)
    const now = await readScheduleSettings(parts.database, settings.scheduleUuid)
    settings = now === undefined || now.version <= settings.version ? undefined : now
  }
}

/**
 * Removes what is left of a schedule whose row is marked deleted: the instances of its runs, Temporal's
 * schedule and the row. Throws `ControlUnavailable`; then the sweep repeats it.
 */
export async function removeSchedule(
  { database, schedules, instances }: ScheduleParts & { readonly instances: InstanceControl },
  scheduleUuid: string,
  asker: Asker = thePlatform,
): Promise<void> {
  const deleted = await deleteInstancesOfRuns(database, scheduleUuid, asker)
  await schedules.delete(scheduleUuid)
  await removeScheduleRow(database, scheduleUuid)
  // The sweep tells the workflows of instances that hear nothing here.
  await Promise.all(deleted.map((row) => instances.delete(workflowSettings(row))))
}
