import type { FailedEntry } from '../../contract/envelope.ts'
import { TextForm } from '../../contract/operation.ts'
import type { OperationEntry } from '../../contract/operation.ts'
import type { ParsedRequest } from '../../contract/request/parsed-request.ts'
import type { getServiceMetrics } from '../../contract/service/operations.ts'
import { countServiceStates } from '../../db/instance/state-counts.ts'
import { findServices, listServiceNames } from '../../db/service/services.ts'
import { selectsText } from '../accepted-form.ts'
import type { Call, Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { missingEntry } from '../failed-entry.ts'
import { metricsContentType } from '../metrics-text.ts'
import { identifierOf } from '../named-objects.ts'
import { presentServiceMetrics, presentServiceMetricsText } from './metrics-view.ts'
import type { MeteredService } from './metrics-view.ts'
import { serviceKind, servicePage } from './objects.ts'

type Entry = OperationEntry<typeof getServiceMetrics> | FailedEntry

/**
 * Answers with the metrics of the named services, or of all services within reach. The answer is text unless
 * JSON is requested.
 */
export function servicesMetrics(deps: ApiDeps): Handler<typeof getServiceMetrics> {
  return async (request, call) => {
    const found = await findServiceNames(deps, call, request)
    const services = found.flatMap((one) => ('service' in one ? one.service : []))
    const metered = await meter(deps, call, services)
    // The text has no place for failed objects. If there are only those, the answer is JSON, whose envelope
    // reports them.
    const onlyFailures = found.length > 0 && services.length === 0
    if (selectsText(TextForm.Prometheus, call.accept) && !onlyFailures)
      return { text: presentServiceMetricsText([...metered.values()]), contentType: metricsContentType }
    const named = request.objects.length > 0
    return {
      entries: found.map((one): Entry => {
        if (!('service' in one)) return one
        const metrics = presentServiceMetrics(metered.get(one.service.uuid)!)
        return named ? { status: 'success', ...metrics } : metrics
      }),
    }
  }
}

interface ServiceName {
  readonly uuid: string
  readonly name: string
}

type Found = { readonly service: ServiceName } | FailedEntry

async function findServiceNames(
  deps: ApiDeps,
  call: Call,
  { objects, page }: ParsedRequest,
): Promise<readonly Found[]> {
  if (objects.length === 0) {
    const filter = { ...(await servicePage(deps, call, page)), filters: [] }
    const all = await listServiceNames(deps.database, call.identity, filter)
    return all.map((service) => ({ service }))
  }
  const targets = objects.flatMap(({ target }) => target ?? [])
  const rows = await findServices(deps.database, call.identity, targets.map(identifierOf))
  return targets.map((target, index) => {
    const service = rows[index]
    return service === undefined ? missingEntry(serviceKind, target) : { service }
  })
}

/** Adds to the services what rows and gateways know of them. A gateway that does not answer is left out. */
async function meter(
  deps: Pick<ApiDeps, 'database' | 'parts'>,
  call: Call,
  services: readonly ServiceName[],
): Promise<ReadonlyMap<string, MeteredService>> {
  const uuids = services.map(({ uuid }) => uuid)
  const [states, gateways] = await Promise.all([
    countServiceStates(deps.database, uuids),
    deps.parts.readTraffic(uuids, (error) => call.log.warn({ err: error }, 'a gateway does not answer')),
  ])
  const statesOf = Map.groupBy(states, ({ serviceUuid }) => serviceUuid)
  return new Map(
    services.map(({ uuid, name }) => {
      const traffic = gateways.map((one) => ({ gateway: one.gateway, counted: one.traffic[uuid] }))
      return [uuid, { uuid, name, states: statesOf.get(uuid) ?? [], traffic }]
    }),
  )
}
