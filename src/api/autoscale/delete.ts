import type { deleteAutoscale } from '../../contract/autoscale/operations.ts'
import { deleteAutoscale as markAutoscaleDeleted } from '../../db/autoscale/configurations.ts'
import { tellAutoscaleDeleted } from './workflows.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { failedService, forEachService } from '../service/objects.ts'
import { writeRefusalProblem } from '../write-refusal.ts'

/**
 * Marks configurations as deleted. From then on their services count as unconfigured. The workflow of each
 * hears of that now or at the next sweep, and gives the clones back.
 */
export function autoscaleDelete(deps: ApiDeps): Handler<typeof deleteAutoscale> {
  return async ({ objects }, call) => {
    const entries = await forEachService(deps, call, objects, async (row) => {
      const { uuid, name } = row
      const { identity, asker } = call
      const outcome = await markAutoscaleDeleted(deps.database, identity.userUuid, uuid, asker)
      if (!outcome.ok) return failedService(row, writeRefusalProblem(outcome.refusal))
      await tellAutoscaleDeleted(deps, call, outcome.settings)
      return { status: 'success' as const, uuid, name }
    })
    return { entries }
  }
}
