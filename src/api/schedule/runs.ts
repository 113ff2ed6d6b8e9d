import type { getScheduleRuns } from '../../contract/schedule/operations.ts'
import { defaultRunCount } from '../../contract/schedule/requests.ts'
import { listRuns } from '../../db/schedule/runs.ts'
import type { RunRow } from '../../db/schedule/runs.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { forEachSchedule } from './objects.ts'
import { presentRun } from './view.ts'

/** The last runs of schedules, with the last part of their logs if that is asked for. */
export function schedulesRuns(deps: ApiDeps): Handler<typeof getScheduleRuns> {
  return async ({ objects }, call) => {
    const entries = await forEachSchedule(deps, call, objects, async ({ uuid, name }, parameters) => {
      const { limit = defaultRunCount, log = false } = parameters
      const runs = await listRuns(deps.database, uuid, limit)
      const present = log ? presentWithLog : presentRun
      return { status: 'success' as const, uuid, name, runs: runs.map(present) }
    })
    return { entries }
  }
}

function presentWithLog(run: RunRow) {
  return { ...presentRun(run), ...(run.logTail !== null && { log: run.logTail }) }
}
