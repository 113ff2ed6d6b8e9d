import type { deleteSchedules } from '../../contract/schedule/operations.ts'
import { markScheduleDeleted } from '../../db/schedule/records.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { missingEntry } from '../failed-entry.ts'
import { forEachSchedule, scheduleKind } from './objects.ts'
import { tellDeleted } from './telling.ts'

/**
 * Marks schedules as deleted. From then on their users no longer see them. Temporal's schedule and the
 * instances of runs are deleted now or at the next sweep.
 */
export function schedulesDelete(deps: ApiDeps): Handler<typeof deleteSchedules> {
  return async ({ objects }, call) => {
    const { userUuid } = call.identity
    const entries = await forEachSchedule(deps, call, objects, async ({ uuid, name }) => {
      const row = await markScheduleDeleted(deps.database, { uuid, userUuid, asker: call.asker })
      if (row === undefined) return missingEntry(scheduleKind, { by: 'uuid', value: uuid })
      await tellDeleted(deps, call, row)
      return { status: 'success' as const, uuid, name }
    })
    return { entries }
  }
}
