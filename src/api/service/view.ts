import type { OperationEntry } from '../../contract/operation.ts'
import type { createServices, getServices } from '../../contract/service/operations.ts'
import type { AttachedService, ServiceRow } from '../../db/service/row.ts'
import { timestamp } from '../timestamp.ts'

type Details = OperationEntry<typeof getServices>
type Domains = OperationEntry<typeof createServices>['domains']

/** All fields of a service. */
export function presentService(row: ServiceRow): Details {
  return {
    uuid: row.uuid,
    name: row.name,
    created_at: timestamp(row.createdAt),
    persistent: row.persistent,
    autoscale: row.autoscale,
    soft_limit: row.softLimit,
    hard_limit: row.hardLimit,
    services: row.ports.map(({ port, destinationPort, handlers }) => ({
      port,
      destination_port: destinationPort,
      handlers: [...handlers],
    })),
    domains: presentDomains(row),
    instances: row.instances.map(({ uuid, name }) => ({ uuid, name })),
  }
}

export function presentDomains({ domains }: Pick<ServiceRow, 'domains'>): Domains {
  return domains.map(({ fqdn, certificate }) => ({
    fqdn,
    ...(certificate === null ? {} : { certificate: { ...certificate } }),
  }))
}

/** The service as an instance shows it. */
export function presentAttached(service: AttachedService) {
  return { uuid: service.uuid, name: service.name, domains: presentDomains(service) }
}
