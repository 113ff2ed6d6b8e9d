import { problem } from '../../contract/errors.ts'
import type { Problem } from '../../contract/errors.ts'
import type { OperationBody } from '../../contract/operation.ts'
import type { createServices } from '../../contract/service/operations.ts'
import { shortened } from '../../contract/request/validation-problems.ts'
import type { WantedDomain } from '../../db/service/new-service.ts'
import { DomainKind, parseDomainName } from '../../domain/service/domain-name.ts'
import type { PublishedPort } from '../../domain/service/handler.ts'
import { resolvePorts } from '../../domain/service/ports.ts'
import type { PortRefusal, WantedPort } from '../../domain/service/ports.ts'
import { readIdentifier } from '../body-identifier.ts'
import type { Read } from '../body-identifier.ts'

// The ports and domains in the body of a request, whether a service is made with them or changed.

type ServiceBody = OperationBody<typeof createServices>
type PortBody = NonNullable<ServiceBody['services']>[number]
type DomainBody = NonNullable<ServiceBody['domains']>[number]

/** Reads published ports and fills in defaults, or returns everything that is wrong with them. */
export function readPorts(bodies: readonly PortBody[], place: string): Read<readonly PublishedPort[]> {
  const outcome = resolvePorts(bodies.map(wantedPort))
  if (outcome.ok) return { ok: true, value: outcome.ports }
  return { ok: false, problems: outcome.refusals.map((refusal) => portProblem(refusal, place)) }
}

/** Reads domains, or returns everything that is wrong with them. */
export function readDomains(
  bodies: readonly DomainBody[],
  metroDomain: string,
  place: string,
): Read<readonly WantedDomain[]> {
  const read = bodies.map((body) => readDomain(body, metroDomain))
  const problems = [
    ...read.flatMap((domain) => (domain.ok ? [] : domain.problems)),
    ...repeatedDomains(read, place),
  ]
  if (problems.length > 0) return { ok: false, problems }
  return { ok: true, value: read.flatMap((domain) => (domain.ok ? [domain.value] : [])) }
}

function readDomain({ name, certificate }: DomainBody, metroDomain: string): Read<WantedDomain> {
  const parsed = parseDomainName(name, metroDomain)
  if (!parsed.ok) {
    const problems = [problem('invalidDnsName', { value: shortened(name), reason: parsed.reason })]
    return { ok: false, problems }
  }
  const { domain } = parsed
  if (certificate === undefined) return { ok: true, value: domain }
  if (domain.kind === DomainKind.Metro) {
    return { ok: false, problems: [problem('certificateNotAllowed', { fqdn: domain.fqdn })] }
  }
  const identifier = readIdentifier(certificate, 'certificate description')
  return identifier.ok
    ? { ok: true, value: { ...domain, certificate: identifier.value } }
    : { ok: false, problems: identifier.problems }
}

function repeatedDomains(domains: readonly Read<WantedDomain>[], place: string): readonly Problem[] {
  const names = domains.flatMap((domain) => (domain.ok ? [domain.value.fqdn] : []))
  const repeated = new Set(names.filter((name, index) => names.indexOf(name) !== index))
  return [...repeated].map((fqdn) => problem('repeatedDomain', { fqdn, place }))
}

function wantedPort(port: PortBody): WantedPort {
  return {
    port: port.port,
    ...(port.destination_port === undefined ? {} : { destinationPort: port.destination_port }),
    ...(port.handlers === undefined ? {} : { handlers: port.handlers }),
  }
}

function portProblem(refusal: PortRefusal, place: string): Problem {
  const { port } = refusal
  switch (refusal.kind) {
    case 'duplicate':
      return problem('repeatedPort', { port, place })
    case 'missing-handler':
      return problem('missingHandler', { port, handler: refusal.handler })
    case 'forbidden-handler':
      return problem('forbiddenHandler', { port, handler: refusal.handler })
    case 'redirect-destination':
      return problem('redirectDestination', { port, destination: refusal.destination })
    default:
      return refusal satisfies never
  }
}
