import type { getAutoscalePolicies } from '../../contract/autoscale/operations.ts'
import { RequestError, problem, requestError } from '../../contract/errors.ts'
import type { Page } from '../../contract/request/parsed-request.ts'
import { findAutoscale } from '../../db/autoscale/configurations.ts'
import type { AutoscalePolicy } from '../../domain/autoscale/policy.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { policyKind } from './policy-kind.ts'
import { findOwner, missingPolicy } from './policy-objects.ts'
import { presentPolicy } from './view.ts'

/** The named policies of a service, or all of them. */
export function policiesStatus(deps: ApiDeps): Handler<typeof getAutoscalePolicies> {
  return async (request, call) => {
    const { uuid, name: service } = await findOwner(deps, call, request.owner)
    const configured = await findAutoscale(deps.database, call.identity.userUuid, [uuid])
    const policies = configured.get(uuid)?.policies
    if (policies === undefined) throw requestError('autoscaleNotConfigured', { service })
    const present = (policy: AutoscalePolicy) => ({ status: 'success' as const, ...presentPolicy(policy) })
    if (request.objects.length === 0) return { entries: pageOf(policies, request.page).map(present) }
    const names = request.objects.flatMap(({ target }) => target?.value ?? [])
    const entries = names.map((name) => {
      const policy = policies.find((one) => one.name === name)
      return policy === undefined ? missingPolicy(name, request) : present(policy)
    })
    return { entries }
  }
}

/**
 * Selects the policies of one page. A service has few policies, so all are read first. The page begins
 * after the policy that `after` names.
 */
function pageOf(
  policies: readonly AutoscalePolicy[],
  { count, offset = 0, after }: Page,
): readonly AutoscalePolicy[] {
  const last = policies.findIndex(({ name }) => name === after)
  if (after !== undefined && last < 0) {
    const reason = `no ${policyKind} with name '${after}'`
    throw new RequestError([problem('invalidContent', { name: 'from', place: 'the query', reason })])
  }
  const from = after === undefined ? offset : last + 1
  return policies.slice(from, count === undefined ? undefined : from + count)
}
