import { problem, requestError } from '../../contract/errors.ts'
import type { FailedEntry } from '../../contract/envelope.ts'
import type { ParsedRequest, Target } from '../../contract/request/parsed-request.ts'
import type { PolicyChange } from '../../db/autoscale/policies.ts'
import type { ServiceRow } from '../../db/service/row.ts'
import { findServices } from '../../db/service/services.ts'
import type { Call } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { unmadeEntry } from '../failed-entry.ts'
import { identifierOf } from '../named-objects.ts'
import { policyKind } from './policy-kind.ts'
import { serviceKind } from '../service/objects.ts'
import { writeRefusalProblem } from '../write-refusal.ts'

/** The service whose policies a request is about. If it does not exist, the request as a whole fails. */
export async function findOwner(
  deps: Pick<ApiDeps, 'database'>,
  call: Call,
  owner: Target | undefined,
): Promise<ServiceRow> {
  if (owner === undefined) throw new Error('the path of an operation on policies names a service')
  const [service] = await findServices(deps.database, call.identity, [identifierOf(owner)])
  if (service !== undefined) return service
  throw requestError('notFoundInPath', { kind: serviceKind, ...owner })
}

/**
 * The answer when a policy does not exist: an entry, or the failure of the request if the path names the
 * policy. The SDK in Go decodes every entry of a status as a whole policy, so it would fail before it could
 * read the message of an error entry.
 */
export function missingPolicy(name: string, { local }: Pick<ParsedRequest, 'local'>): FailedEntry {
  const values = { kind: policyKind, by: 'name', value: name }
  if (local) throw requestError('notFoundInPath', values)
  return unmadeEntry(problem('notFound', values), name)
}

export function changedPolicy({ name, refusal }: PolicyChange) {
  if (refusal !== undefined) return unmadeEntry(writeRefusalProblem(refusal), name)
  return { status: 'success' as const, name }
}
