import { RequestError, requestError } from '../../contract/errors.ts'
import type { Problem } from '../../contract/errors.ts'
import type { FailedEntry } from '../../contract/envelope.ts'
import { maxDomains, maxPublishedPorts } from '../../contract/limits.ts'
import type { OperationEntry } from '../../contract/operation.ts'
import type { updateServices } from '../../contract/service/operations.ts'
import type { Identity } from '../../db/account/authenticator.ts'
import { changeService } from '../../db/service/change.ts'
import type { ServiceChange } from '../../db/service/change.ts'
import type { ServiceRow } from '../../db/service/row.ts'
import { ServiceProperty } from '../../domain/service/change.ts'
import type { Call, Handler } from '../call.ts'
import { startCertificateWorkflows } from '../certificate/workflows.ts'
import type { ApiDeps } from '../deps.ts'
import { limitOf } from '../token-check.ts'
import { writeRefusalProblem } from '../write-refusal.ts'
import { notTheirs } from './new-service.ts'
import { failedService, forEachService } from './objects.ts'
import { newParts, readServiceChange } from './service-change.ts'
import type { ServiceChangeBody } from './service-change.ts'
import { presentDomains } from './view.ts'

type Entry = OperationEntry<typeof updateServices> | FailedEntry

const bounds = { services: maxPublishedPorts, domains: maxDomains }

/** One service that a request is about, and all changes that the request has for it. */
interface Changes {
  readonly service: ServiceRow
  readonly wanted: ServiceChange[]
}

/**
 * Changes services, one after the other in the order in which the request names them first. The objects
 * about one service are carried out together or not at all.
 */
export function servicesUpdate(deps: ApiDeps): Handler<typeof updateServices> {
  return async ({ objects }, call) => {
    const { metroDomain } = deps.settings
    const bodies = objects.map(({ parameters }) => parameters)
    refuseForeignDomains(call.identity, bodies)
    const read = bodies.map((body) => readServiceChange(body, metroDomain))
    const problems = read.flatMap((one) => (one.ok ? [] : one.problems))
    if (problems.length > 0) throw new RequestError(problems)
    const byService = new Map<string, Changes>()
    // The entries of services that were found are made once all services are changed.
    const found = await forEachService(deps, call, objects, async (service, { id }, index) => {
      const change = read[index]
      const changes = byService.get(service.uuid) ?? { service, wanted: [] }
      byService.set(service.uuid, changes)
      if (change?.ok) changes.wanted.push(change.value)
      return { service, id }
    })
    const outcomes = await changeAll(deps, call, [...byService.values()])
    const entries = found.map((one, index): Entry => {
      if ('status' in one) return withId(one, bodies[index]?.id)
      return withId(outcomes.get(one.service.uuid)!, one.id)
    })
    return { entries }
  }
}

/**
 * Refuses a request of a token that is limited to services if a service would get domains. A domain is a
 * public name of the account, and brings a certificate of the account with it, which such a token can not
 * even see. So they are refused here as they are where a service is made. Ports and limits are the service's
 * own, and domains can be taken away, because the token may also delete the service.
 */
function refuseForeignDomains({ services }: Identity, bodies: readonly ServiceChangeBody[]): void {
  if (services === null) return
  for (const { domains = [], add } of bodies) {
    if (domains.length + (add?.domains ?? []).length > 0)
      throw requestError('domainsNotAllowed', { services: limitOf(services) })
  }
}

/** Changes each service. Returns the entry for all objects about it, by its UUID. */
async function changeAll(
  deps: ApiDeps,
  call: Call,
  all: readonly Changes[],
): Promise<ReadonlyMap<string, Entry>> {
  const { metroDomain } = deps.settings
  const { userUuid } = call.identity
  const parts = all.map(({ service, wanted }) => newParts(service, wanted, metroDomain))
  const taken = await notTheirs(deps, userUuid, parts)
  const entries = new Map<string, Entry>()
  for (const [index, changes] of all.entries()) {
    entries.set(changes.service.uuid, await changeOne(deps, call, { ...changes, wrong: taken[index] }))
  }
  return entries
}

async function changeOne(
  deps: ApiDeps,
  call: Call,
  { service, wanted, wrong }: Changes & { readonly wrong: Problem | undefined },
): Promise<Entry> {
  if (wrong !== undefined) return failedService(service, wrong)
  const { uuid, name, userUuid } = service
  const outcome = await changeService({ ...deps, bounds }, { uuid, userUuid }, wanted, call.asker)
  if (!outcome.ok) return failedService(service, writeRefusalProblem(outcome.refusal))
  const { changed } = outcome
  // A service that was deleted right after the change is shown as it was before.
  const after = outcome.service ?? service
  if (changed.includes(ServiceProperty.Domains)) await startCertificateWorkflows(deps, call, [after])
  return { status: 'success', uuid, name, changed: [...changed], domains: presentDomains(after) }
}

/** Clients find the entry of a change by the id that they gave it. */
function withId(entry: Entry, id: string | undefined): Entry {
  return id === undefined ? entry : { ...entry, id }
}
