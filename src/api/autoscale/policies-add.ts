import type { addAutoscalePolicies } from '../../contract/autoscale/operations.ts'
import { RequestError } from '../../contract/errors.ts'
import { addPolicies } from '../../db/autoscale/policies.ts'
import { keepWatched } from './workflows.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { readPolicies } from './new-policies.ts'
import { changedPolicy, findOwner } from './policy-objects.ts'
import { writeRefusalProblem } from '../write-refusal.ts'

/**
 * Adds policies in the order of the request. The watch reads them at its next look, so its workflow need
 * not be told.
 */
export function policiesAdd(deps: ApiDeps): Handler<typeof addAutoscalePolicies> {
  return async ({ owner, objects }, call) => {
    const read = readPolicies(objects.map(({ parameters }) => parameters))
    if (!read.ok) throw new RequestError(read.problems)
    const { userUuid } = call.identity
    const { uuid, name } = await findOwner(deps, call, owner)
    const outcome = await addPolicies(deps.database, { userUuid, uuid, name, asker: call.asker }, read.value)
    if (!outcome.ok) throw new RequestError([writeRefusalProblem(outcome.refusal)])
    await keepWatched(deps, call, { serviceUuid: uuid, serviceName: name, userUuid })
    return { entries: outcome.changes.map(changedPolicy) }
  }
}
