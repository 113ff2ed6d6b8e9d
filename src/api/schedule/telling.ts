import { removeSchedule, tellSchedule } from '../../control/told-schedule.ts'
import { scheduleSettings } from '../../db/schedule/row.ts'
import type { ScheduleRow } from '../../db/schedule/row.ts'
import type { Call } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { wasTold } from '../told-workflow.ts'

/** Brings Temporal's schedule up to date. If Temporal does not answer, the sweep does it. */
export async function tellChange(deps: ApiDeps, call: Call, row: ScheduleRow): Promise<void> {
  const telling = tellSchedule(partsOf(deps), scheduleSettings(row))
  await wasTold(telling, call, instead(row, "the sweep will bring Temporal's schedule up to date"))
}

/** Removes what is left of a schedule that is marked deleted. What is not reached is left to the sweep. */
export async function tellDeleted(deps: ApiDeps, call: Call, row: ScheduleRow): Promise<void> {
  const removing = removeSchedule(partsOf(deps), row.uuid, call.asker)
  await wasTold(removing, call, instead(row, 'the sweep will remove what is left of the schedule'))
}

function partsOf({ database, scheduleControl, control }: ApiDeps) {
  return { database, schedules: scheduleControl, instances: control }
}

function instead({ uuid }: ScheduleRow, text: string) {
  return { object: { schedule: uuid }, instead: text }
}
