import type { listSchedules as listSchedulesOperation } from '../../contract/schedule/operations.ts'
import { listSchedules } from '../../db/schedule/schedules.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { schedulePage } from './objects.ts'

/** The names of schedules that match everything in one of the filters. */
export function schedulesList(deps: ApiDeps): Handler<typeof listSchedulesOperation> {
  return async ({ objects, page }, call) => {
    const filters = objects.map(({ parameters: { paused } }) => (paused === undefined ? {} : { paused }))
    const filter = { ...(await schedulePage(deps, call, page)), filters }
    const rows = await listSchedules(deps.database, call.identity.userUuid, filter)
    return { entries: rows.map(({ uuid, name }) => ({ uuid, name })) }
  }
}
