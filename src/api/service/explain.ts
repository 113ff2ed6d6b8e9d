import type { explainServices } from '../../contract/service/operations.ts'
import type { OperationEntry } from '../../contract/operation.ts'
import { findInstances } from '../../db/instance/instances.ts'
import type { InstanceRow } from '../../db/instance/row.ts'
import type { ServiceRow } from '../../db/service/row.ts'
import { serviceExplanation, serviceText } from '../../explain/service/explanation.ts'
import type { Call, Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { asTheirHostsSay } from '../instance/awake.ts'
import { forEachService } from './objects.ts'

/** What a request to each service meets and why, and what comes next. */
export function servicesExplain(deps: ApiDeps): Handler<typeof explainServices> {
  return async ({ objects }, call) => {
    const found = await forEachService(deps, call, objects, async (service) => ({ service }))
    const services = found.flatMap((one) => ('service' in one ? one.service : []))
    const rows = await instancesOf(deps, call, services)
    const entries = found.map(async (one) =>
      'service' in one ? explained(deps, one.service, rows.get(one.service.uuid) ?? []) : one,
    )
    return { entries: await Promise.all(entries) }
  }
}

/**
 * The instances of each service by its UUID, in the state that their hosts report. All services of a request
 * are read together, so a host that does not answer is waited for once.
 */
async function instancesOf(
  deps: ApiDeps,
  call: Call,
  services: readonly ServiceRow[],
): Promise<ReadonlyMap<string | null, readonly InstanceRow[]>> {
  const named = services.flatMap(({ instances }) => instances.map(({ uuid }) => ({ uuid })))
  const found = await findInstances(deps.database, call.identity, named)
  const rows = await asTheirHostsSay(
    deps,
    call,
    found.filter((row) => row !== undefined),
  )
  return Map.groupBy(rows, ({ serviceUuid }) => serviceUuid)
}

async function explained(
  { database }: ApiDeps,
  service: ServiceRow,
  rows: readonly InstanceRow[],
): Promise<OperationEntry<typeof explainServices>> {
  const explanation = await serviceExplanation(database, service, rows)
  const { reach, now, next, failure, ports, domains, instances, rollout } = explanation
  return {
    status: 'success',
    uuid: service.uuid,
    name: service.name,
    state: reach,
    now,
    next,
    ...(failure === undefined ? {} : { failure }),
    text: serviceText(explanation),
    services: ports.map((each) => ({ ...each })),
    domains: domains.map((each) => ({ ...each })),
    instances: instances.map((each, index) => ({ uuid: rows[index]!.uuid, ...each })),
    ...(rollout && { rollout }),
  }
}
