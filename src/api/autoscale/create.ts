import { createAutoscale } from '../../contract/autoscale/operations.ts'
import { RequestError } from '../../contract/errors.ts'
import { insertAutoscale } from '../../db/autoscale/configurations.ts'
import { tellConfigured } from './workflows.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { readAutoscale } from './new-autoscale.ts'
import { failedService, forEachService } from '../service/objects.ts'
import { writeRefusalProblem } from '../write-refusal.ts'

/**
 * Configures services one after the other. Autoscale begins to watch a service when its workflow hears of
 * the configuration, now or at the next sweep.
 */
export function autoscaleCreate(deps: ApiDeps): Handler<typeof createAutoscale> {
  return async ({ objects }, call) => {
    const read = objects.map(({ parameters }) => readAutoscale(parameters, createAutoscale.place))
    const problems = read.flatMap((one) => (one.ok ? [] : one.problems))
    if (problems.length > 0) throw new RequestError(problems)
    const entries = await forEachService(deps, call, objects, async (row, _, index) => {
      const wanted = read[index]
      if (!wanted?.ok) throw new Error('what is invalid was refused above')
      const { uuid, name } = row
      const { userUuid, services } = call.identity
      const owner = { userUuid, services, asker: call.asker }
      const outcome = await insertAutoscale(deps.database, { ...owner, serviceUuid: uuid, ...wanted.value })
      if (!outcome.ok) return failedService(row, writeRefusalProblem(outcome.refusal))
      await tellConfigured(deps, call, outcome.settings)
      return { status: 'success' as const, uuid, name }
    })
    return { entries }
  }
}
