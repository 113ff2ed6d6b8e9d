import { defaultRolloutCount } from '../../contract/limits.ts'
import type { getRollouts } from '../../contract/rollout/operations.ts'
import { listRollouts } from '../../db/rollout/records.ts'
import { membersOfRollouts } from '../../db/rollout/row.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { forEachService } from '../service/objects.ts'
import { presentRollout } from './view.ts'

/** The last rollouts of services. */
export function rolloutsList(deps: ApiDeps): Handler<typeof getRollouts> {
  return async ({ objects }, call) => {
    const entries = await forEachService(deps, call, objects, async (service, { limit }) => {
      const rows = await listRollouts(deps.database, service.uuid, limit ?? defaultRolloutCount)
      const members = await membersOfRollouts(
        deps.database.db,
        rows.map(({ uuid }) => uuid),
      )
      const { uuid, name } = service
      const rollouts = rows.map((row) => presentRollout(row, { service, members }))
      return { status: 'success' as const, uuid, name, rollouts }
    })
    return { entries }
  }
}
