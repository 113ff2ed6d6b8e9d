import { problem } from '../../contract/errors.ts'
import type { getServiceUsage } from '../../contract/service/operations.ts'
import { NodeUnavailable } from '../../control/host-client.ts'
import { hostsOfService } from '../../db/service/members.ts'
import { sumOfSteps } from '../../domain/instance/usage-history.ts'
import type { StepUsage, UsageStep } from '../../domain/instance/usage-history.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { defaultStep, presentSteps, requireFewSteps } from '../usage-steps.ts'
import { failedService, forEachService } from './objects.ts'

/** What the instances of services used together, step by step. */
export function servicesUsage(deps: ApiDeps): Handler<typeof getServiceUsage> {
  return async ({ objects }, call) => {
    requireFewSteps(objects)
    const entries = await forEachService(deps, call, objects, async ({ uuid, name }, wanted) => {
      const { step = defaultStep } = wanted
      try {
        const usage = presentSteps(await readServiceHistory(deps, uuid, step), wanted)
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

/**
 * What all instances of a service used together, the oldest step first. Only hosts that have an instance of
 * the service are asked, so that no other host can say anything about it. Throws `NodeUnavailable`.
 */
export async function readServiceHistory(
  { database, nodes }: Pick<ApiDeps, 'database' | 'nodes'>,
  serviceUuid: string,
  step: UsageStep,
): Promise<readonly StepUsage[]> {
  const hosts = await hostsOfService(database, serviceUuid)
  return sumOfSteps(
    await Promise.all(hosts.map(async (host) => await nodes.readServiceHistory(host, serviceUuid, step))),
  )
}
