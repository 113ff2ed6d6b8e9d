import { problem } from '../../contract/errors.ts'
import type { Problem } from '../../contract/errors.ts'
import { createInstances } from '../../contract/instance/operations.ts'
import type { OperationBody } from '../../contract/operation.ts'
import type { createServices } from '../../contract/service/operations.ts'
import { maxPort } from '../../contract/limits.ts'
import type { ServiceChoice } from '../../db/instance/new-instances.ts'
import type { NewService } from '../../db/service/new-service.ts'
import { DomainKind, isReserved } from '../../domain/service/domain-name.ts'
import { parseObjectName } from '../../domain/object-name.ts'
import { resolveLimits } from '../../domain/service/ports.ts'
import { defaultHardLimit, defaultSoftLimit } from '../../domain/service/handler.ts'
import type { ApiDeps, ApiSettings } from '../deps.ts'
import { readIdentifier } from '../body-identifier.ts'
import type { Read } from '../body-identifier.ts'
import { readDomains, readPorts } from './published-parts.ts'

export type ServiceBody = OperationBody<typeof createServices>
type ServiceGroupBody = OperationBody<typeof createInstances>['service_group']

/**
 * Reads the description of a new service and fills in defaults, or returns everything that is wrong with it.
 * Only problems that do not depend on the state of the platform are found here.
 */
export function readService(body: ServiceBody, metroDomain: string, place: string): Read<NewService> {
  const { soft_limit: softLimit, hard_limit: hardLimit } = body
  const ports = readPorts(body.services ?? [], place)
  const limits = resolveLimits({
    ...(softLimit === undefined ? {} : { softLimit }),
    ...(hardLimit === undefined ? {} : { hardLimit }),
  })
  const domains = readDomains(body.domains ?? [], metroDomain, place)
  if (!ports.ok || !domains.ok || limits === undefined) {
    const problems = [
      ...(ports.ok ? [] : ports.problems),
      ...(limits === undefined ? [softAboveHard(body, place)] : []),
      ...(domains.ok ? [] : domains.problems),
    ]
    return { ok: false, problems }
  }
  const name = body.name === undefined ? undefined : parseObjectName(body.name)
  return {
    ok: true,
    value: {
      ...(name === undefined ? {} : { name }),
      ports: ports.value,
      domains: domains.value,
      ...limits,
      metroDomain,
    },
  }
}

/** What is wrong with the part of a request that says to which service a new instance is attached. */
export function serviceChoiceProblems(body: ServiceGroupBody, metroDomain: string): readonly Problem[] {
  const read = readServiceChoice(body, metroDomain)
  return read === undefined || read.ok ? [] : read.problems
}

/**
 * The service to which a new instance is attached. Called after `serviceChoiceProblems` has found no
 * problem.
 */
export function serviceChoice(body: ServiceGroupBody, metroDomain: string): ServiceChoice | undefined {
  const read = readServiceChoice(body, metroDomain)
  return read?.ok ? read.value : undefined
}

function readServiceChoice(body: ServiceGroupBody, metroDomain: string): Read<ServiceChoice> | undefined {
  if (body === undefined) return undefined
  const { place } = createInstances
  const { uuid, name, ...made } = body
  if (uuid === undefined && name === undefined) {
    const service = readService(made, metroDomain, place)
    return service.ok ? { ok: true, value: { made: service.value } } : service
  }
  const identifier = uuid === undefined ? 'name' : 'uuid'
  // Some clients leave empty lists out, others send them.
  const other = Object.entries(made).find(([, value]) => !(Array.isArray(value) && value.length === 0))
  if (other !== undefined) {
    const names = { name: `service_group.${identifier}`, other: `service_group.${other[0]}`, place }
    return { ok: false, problems: [problem('notBoth', names)] }
  }
  const target = readIdentifier({ ...(uuid && { uuid }), ...(name && { name }) }, place)
  return target.ok ? { ok: true, value: { existing: target.value } } : target
}

/** The ports and domains that a request wants for a service. */
export type WantedParts = Pick<NewService, 'ports' | 'domains' | 'metroDomain'>

/**
 * Checks whether the services that a request wants to make or to change get ports or domains that the user
 * may not take. Returns one result per service: a problem, or undefined if the service may have them. The
 * caller makes failed entries of the problems, because the request itself is well formed. All domains of the
 * request are looked up at once.
 */
export async function notTheirs(
  { domainProofs, settings }: Pick<ApiDeps, 'domainProofs' | 'settings'>,
  userUuid: string,
  services: readonly (WantedParts | undefined)[],
): Promise<readonly (Problem | undefined)[]> {
  const own = services.map((service) => service && platformsOwn(service, settings.publicPorts))
  const asked = services.flatMap((service, index) =>
    service === undefined || own[index] !== undefined ? [] : customDomains(service),
  )
  const unproved = asked.length === 0 ? undefined : await domainProofs?.missing(userUuid, asked)
  return services.map((service, index) => {
    if (service === undefined || own[index] !== undefined) return own[index]
    const missing = customDomains(service).find((fqdn) => unproved?.has(fqdn))
    return missing === undefined ? undefined : unproved?.get(missing)
  })
}

function customDomains({ domains }: WantedParts): readonly string[] {
  return domains.flatMap(({ fqdn, kind }) => (kind === DomainKind.Custom ? [fqdn] : []))
}

export function platformsOwn(
  { ports, domains, metroDomain }: WantedParts,
  publicPorts: ApiSettings['publicPorts'],
): Problem | undefined {
  const reserved = domains.find((domain) => isReserved(domain, metroDomain))
  if (reserved !== undefined) return problem('domainReserved', { fqdn: reserved.fqdn })
  const { offset, withheld } = publicPorts
  for (const { port } of ports) {
    const listensOn = port + offset
    if (withheld.has(listensOn)) return problem('portOfPlatform', { port })
    if (listensOn > maxPort) return problem('portBeyond', { port, offset, max: maxPort - offset })
  }
  return undefined
}

function softAboveHard(body: ServiceBody, place: string): Problem {
  const { soft_limit: soft = defaultSoftLimit, hard_limit: hard = defaultHardLimit } = body
  return problem('softAboveHard', { soft, hard, place })
}
