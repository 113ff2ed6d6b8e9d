import type { deleteAutoscalePolicies } from '../../contract/autoscale/operations.ts'
import { RequestError } from '../../contract/errors.ts'
import { deletePolicies } from '../../db/autoscale/policies.ts'
import { keepWatched } from './workflows.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { changedPolicy, findOwner } from './policy-objects.ts'
import { writeRefusalProblem } from '../write-refusal.ts'

/** Deletes policies of a service. The size that they led to stays. */
export function policiesDelete(deps: ApiDeps): Handler<typeof deleteAutoscalePolicies> {
  return async ({ owner, objects }, call) => {
    const { uuid, name } = await findOwner(deps, call, owner)
    const names = objects.flatMap(({ target }) => target?.value ?? [])
    const { userUuid } = call.identity
    const outcome = await deletePolicies(deps.database, { userUuid, uuid, name, asker: call.asker }, names)
    if (!outcome.ok) throw new RequestError([writeRefusalProblem(outcome.refusal)])
    await keepWatched(deps, call, { serviceUuid: uuid, serviceName: name, userUuid })
    return { entries: outcome.changes.map(changedPolicy) }
  }
}
