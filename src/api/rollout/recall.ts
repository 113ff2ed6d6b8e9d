import type { rollBackServices } from '../../contract/rollout/operations.ts'
import { recallRollout } from '../../db/rollout/moves.ts'
import { membersOfRollouts } from '../../db/rollout/row.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { failedService, forEachService } from '../service/objects.ts'
import { writeRefusalProblem } from '../write-refusal.ts'
import { tellRecalled } from './telling.ts'
import { presentRollout } from './view.ts'

/** Has the newest rollout of each service go back. */
export function servicesRollback(deps: ApiDeps): Handler<typeof rollBackServices> {
  return async ({ objects }, call) => {
    const entries = await forEachService(deps, call, objects, async (service) => {
      const { uuid, name, userUuid } = service
      const outcome = await recallRollout(deps.database, { userUuid, serviceUuid: uuid, asker: call.asker })
      if (!outcome.ok) return failedService(service, writeRefusalProblem(outcome.refusal))
      await tellRecalled(deps, call, outcome.value)
      const members = await membersOfRollouts(deps.database.db, [outcome.value.uuid])
      const rollout = presentRollout(outcome.value, { service, members })
      return { status: 'success' as const, uuid, name, rollout }
    })
    return { entries }
  }
}
