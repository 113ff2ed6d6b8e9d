import { RequestError } from '../../contract/errors.ts'
import type { FailedEntry } from '../../contract/envelope.ts'
import type { OperationEntry } from '../../contract/operation.ts'
import { createServices } from '../../contract/service/operations.ts'
import { createService } from '../../db/service/create.ts'
import type { NewService } from '../../db/service/new-service.ts'
import type { Call, Handler } from '../call.ts'
import { startCertificateWorkflows } from '../certificate/workflows.ts'
import type { ApiDeps } from '../deps.ts'
import { missingEntry, unmadeEntry } from '../failed-entry.ts'
import { notTheirs, readService } from './new-service.ts'
import { presentDomains } from './view.ts'
import { serviceKind } from './objects.ts'
import { writeRefusalProblem } from '../write-refusal.ts'

type Entry = OperationEntry<typeof createServices> | FailedEntry

/**
 * Creates the services of an array one after the other, so that the first ones get what is left of the
 * quotas.
 */
export function servicesCreate(deps: ApiDeps): Handler<typeof createServices> {
  return async ({ objects }, call) => {
    const { metroDomain } = deps.settings
    const read = objects.map(({ parameters }) => readService(parameters, metroDomain, createServices.place))
    const problems = read.flatMap((one) => (one.ok ? [] : one.problems))
    if (problems.length > 0) throw new RequestError(problems)
    const wanted = read.flatMap((one) => (one.ok ? [one.value] : []))
    const taken = await notTheirs(deps, call.identity.userUuid, wanted)
    const entries: Entry[] = []
    for (const [index, one] of wanted.entries()) {
      const wrong = taken[index]
      entries.push(wrong === undefined ? await createOne(deps, call, one) : unmadeEntry(wrong, one.name))
    }
    return { entries }
  }
}

async function createOne(deps: ApiDeps, call: Call, wanted: NewService): Promise<Entry> {
  const { userUuid } = call.identity
  const outcome = await createService(deps, userUuid, wanted, call.asker)
  if (!outcome.ok) return unmadeEntry(writeRefusalProblem(outcome.refusal), wanted.name)
  const { uuid, service } = outcome
  if (service === undefined) return missingEntry(serviceKind, { by: 'uuid', value: uuid })
  await startCertificateWorkflows(deps, call, [service])
  return { status: 'success', uuid, name: service.name, domains: presentDomains(service) }
}
