import { problem } from '../../contract/errors.ts'
import type { triggerSchedules } from '../../contract/schedule/operations.ts'
import { scheduleSettings } from '../../db/schedule/row.ts'
import { isRunUnderWay } from '../../db/schedule/runs.ts'
import { OverlapPolicy } from '../../domain/schedule/overlap.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { wasTold } from '../told-workflow.ts'
import { failedSchedule, forEachSchedule } from './objects.ts'

/**
 * Has a run of each schedule begin now. Temporal would leave a run out without a word if an earlier one is
 * under way and the policy is `skip`. So that is refused here. If both runs begin at the same moment, the
 * later one is left out all the same.
 */
export function schedulesTrigger(deps: ApiDeps): Handler<typeof triggerSchedules> {
  return async ({ objects }, call) => {
    const entries = await forEachSchedule(deps, call, objects, async (row) => {
      const { uuid, name } = row
      if (row.overlap === OverlapPolicy.Skip && (await isRunUnderWay(deps.database, uuid)))
        return failedSchedule(row, problem('runUnderWay', { name }))
      const told = wasTold(deps.scheduleControl.trigger(scheduleSettings(row)), call, {
        object: { schedule: uuid },
        instead: 'the run by hand was refused',
      })
      if (!(await told))
        return failedSchedule(
          row,
          problem('operationFailed', { reason: 'the control plane does not answer' }),
        )
      return { status: 'success' as const, uuid, name }
    })
    return { entries }
  }
}
