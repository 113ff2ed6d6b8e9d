import type { getSchedules } from '../../contract/schedule/operations.ts'
import { openScheduleEnv } from '../../db/schedule/row.ts'
import type { ScheduleRow } from '../../db/schedule/row.ts'
import { lastRuns } from '../../db/schedule/runs.ts'
import { listSchedules } from '../../db/schedule/schedules.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { forEachSchedule, schedulePage } from './objects.ts'
import { presentSchedule } from './view.ts'

/** The status of the named schedules, or of all; if of all, the entries have no `status` of their own. */
export function schedulesStatus(deps: ApiDeps): Handler<typeof getSchedules> {
  return async ({ objects, query, page }, call) => {
    const present = async (rows: readonly ScheduleRow[]) => {
      if (query.details === false) return rows.map(({ uuid, name }) => ({ uuid, name }))
      const runs = await lastRuns(
        deps.database,
        rows.map(({ uuid }) => uuid),
      )
      const nowMs = deps.nowMs()
      return rows.map((row) =>
        presentSchedule(row, {
          env: openScheduleEnv(deps.secretBox, row),
          lastRun: runs.get(row.uuid),
          nowMs,
        }),
      )
    }
    if (objects.length === 0) {
      const filter = await schedulePage(deps, call, page)
      return { entries: await present(await listSchedules(deps.database, call.identity.userUuid, filter)) }
    }
    const entries = await forEachSchedule(deps, call, objects, async (row) => {
      const [view] = await present([row])
      return { status: 'success' as const, ...view! }
    })
    return { entries }
  }
}
