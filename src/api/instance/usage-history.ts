import type { getInstanceUsage } from '../../contract/instance/operations.ts'
import { NodeUnavailable } from '../../control/host-client.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { failedInstance } from '../failed-entry.ts'
import { defaultStep, presentSteps, requireFewSteps } from '../usage-steps.ts'
import { forEachInstance } from './objects.ts'

/** What instances used step by step, read from the hosts that keep it. */
export function instancesUsage(deps: ApiDeps): Handler<typeof getInstanceUsage> {
  return async ({ objects }, call) => {
    requireFewSteps(objects)
    const entries = await forEachInstance(deps, call, objects, async (row, wanted) => {
      const { step = defaultStep } = wanted
      try {
        const usage = presentSteps(await deps.nodes.readHistory(row, step), wanted)
        return { status: 'success' as const, uuid: row.uuid, name: row.name, step, usage }
      } catch (error) {
        if (!(error instanceof NodeUnavailable)) throw error
        call.log.warn({ err: error, instance: row.uuid }, 'the host does not answer')
        return failedInstance(row, 'hostUnreachable')
      }
    })
    return { entries }
  }
}
