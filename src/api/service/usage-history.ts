import { problem } from '../../contract/errors.ts'
import type { getServiceUsage } from '../../contract/service/operations.ts'
import { NodeUnavailable } from '../../control/host-client.ts'
import { hostsOfService } from '../../db/service/hosts.ts'
import { sumOfSteps } from '../../domain/instance/usage-history.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { defaultStep, presentSteps, requireFewSteps } from '../usage-steps.ts'
import { failedService, forEachService } from './objects.ts'

/**
 * What the instances of services used together, step by step. Only hosts that have an instance of the service
 * are asked, so that no other host can say anything about it.
 */
export function servicesUsage(deps: ApiDeps): Handler<typeof getServiceUsage> {
  return async ({ objects }, call) => {
    requireFewSteps(objects)
    const entries = await forEachService(deps, call, objects, async ({ uuid, name }, wanted) => {
      const { step = defaultStep } = wanted
      try {
        const hosts = await hostsOfService(deps.database, uuid)
        const histories = await Promise.all(
          hosts.map(async (host) => await deps.nodes.readServiceHistory(host, uuid, step)),
        )
        const usage = presentSteps(sumOfSteps(histories), wanted)
        return { status: 'success' as const, uuid, name, step, usage }
      } catch (error) {
        if (!(error instanceof NodeUnavailable)) throw error
        call.log.warn({ err: error, service: uuid }, 'a host does not answer')
        return failedService({ uuid, name }, problem('hostUnreachable'))
      }
    })
    return { entries }
  }
}
