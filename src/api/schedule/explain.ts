import type { explainSchedules } from '../../contract/schedule/operations.ts'
import { lastRuns } from '../../db/schedule/runs.ts'
import { explanationText } from '../../explain/explanation-text.ts'
import { scheduleExplanation } from '../../explain/schedule/explanation.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { forEachSchedule } from './objects.ts'

/** What schedules do, what their last runs did, and when they run next. */
export function schedulesExplain(deps: ApiDeps): Handler<typeof explainSchedules> {
  return async ({ objects }, call) => {
    const entries = await forEachSchedule(deps, call, objects, async (row) => {
      const { uuid, name } = row
      const runs = await lastRuns(deps.database, [uuid])
      const explanation = scheduleExplanation(row, { lastRun: runs.get(uuid), nowMs: deps.nowMs() })
      return {
        status: 'success' as const,
        uuid,
        name,
        ...explanation,
        text: explanationText(explanation),
      }
    })
    return { entries }
  }
}
