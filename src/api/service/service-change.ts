import type { Problem } from '../../contract/errors.ts'
import { updateServices } from '../../contract/service/operations.ts'
import type { OperationBody } from '../../contract/operation.ts'
import type { ServiceChange } from '../../db/service/change.ts'
import type { ServiceRow } from '../../db/service/row.ts'
import { ServiceProperty } from '../../domain/service/change.ts'
import { lookedUpDomain, parseDomainName } from '../../domain/service/domain-name.ts'
import { defaultHardLimit, defaultSoftLimit } from '../../domain/service/handler.ts'
import type { Read } from '../body-identifier.ts'
import type { WantedParts } from './new-service.ts'
import { readDomains, readPorts } from './published-parts.ts'

export type ServiceChangeBody = OperationBody<typeof updateServices>

/**
 * Reads one object of a request, or returns everything that is wrong with it whatever the service is. What
 * `clear` names counts as replaced: by the default, or by nothing.
 */
export function readServiceChange(body: ServiceChangeBody, metroDomain: string): Read<ServiceChange> {
  const { place } = updateServices
  const { add = {}, del = {}, clear = [] } = body
  const problems: Problem[] = []
  const read = <T>(given: Read<readonly T[]>): readonly T[] => {
    if (given.ok) return given.value
    problems.push(...given.problems)
    return []
  }
  const cleared = (property: ServiceProperty) => clear.includes(property)
  const softLimit = body.soft_limit ?? (cleared(ServiceProperty.SoftLimit) ? defaultSoftLimit : undefined)
  const hardLimit = body.hard_limit ?? (cleared(ServiceProperty.HardLimit) ? defaultHardLimit : undefined)
  const ports = body.services ?? (cleared(ServiceProperty.Ports) ? [] : undefined)
  const domains = body.domains ?? (cleared(ServiceProperty.Domains) ? [] : undefined)
  const change: ServiceChange = {
    ...(softLimit !== undefined && { softLimit }),
    ...(hardLimit !== undefined && { hardLimit }),
    ports: {
      ...(ports && { set: read(readPorts(ports, place)) }),
      del: (del.services ?? []).map((port) => (typeof port === 'number' ? port : port.port)),
      add: read(readPorts(add.services ?? [], place)),
    },
    domains: {
      ...(domains && { set: read(readDomains(domains, metroDomain, place)) }),
      del: (del.domains ?? []).map((one) => heldName(typeof one === 'string' ? one : one.name, metroDomain)),
      add: read(readDomains(add.domains ?? [], metroDomain, place)),
    },
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, value: change }
}

/**
 * The domain that is to be taken away, in the form of its row. It is written as in a request, or without a
 * final dot as in an answer. Both never mean different domains: the metro domain is only appended to a name
 * of one label, and no service has such a name itself.
 */
function heldName(text: string, metroDomain: string): string {
  const parsed = parseDomainName(text, metroDomain)
  return parsed.ok ? parsed.domain.fqdn : lookedUpDomain(text)
}

/**
 * The ports and domains that the changes bring to a service. What it has already was checked when it got it,
 * and stays although the rules may be others today: the proof of a domain may be gone from DNS.
 */
export function newParts(
  service: Pick<ServiceRow, 'ports' | 'domains'>,
  changes: readonly ServiceChange[],
  metroDomain: string,
): WantedParts {
  const ports = new Set(service.ports.map(({ port }) => port))
  const domains = new Set(service.domains.map(({ fqdn }) => fqdn))
  const wanted = <T>(lists: readonly { readonly set?: readonly T[]; readonly add: readonly T[] }[]) =>
    lists.flatMap(({ set = [], add }) => [...set, ...add])
  return {
    ports: wanted(changes.map((change) => change.ports)).filter(({ port }) => !ports.has(port)),
    domains: wanted(changes.map((change) => change.domains)).filter(({ fqdn }) => !domains.has(fqdn)),
    metroDomain,
  }
}
