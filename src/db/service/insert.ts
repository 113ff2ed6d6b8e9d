import { randomInt, randomUUID } from 'node:crypto'
import type { EntityManager } from '@mikro-orm/postgresql'
import { derivedLabel, generatedServiceName, serviceSuffixLength } from '../../domain/service/name.ts'
import { Service } from '../schema/service.ts'
import type { Identifier } from '../instance/instances.ts'
import type { NewService, ServiceWriter, WantedDomain } from './new-service.ts'
import { maxNameAttempts } from '../random-suffix.ts'
import { Refused } from '../refused.ts'
import type { WriteRefusal } from '../refused.ts'
import { chooseCertificate } from '../certificate/service-certificates.ts'

/**
 * Writes a service with its domains and the certificates that these need, in a transaction that has the
 * user's row locked: names that are free here stay free until the commit. Throws `Refused`.
 */
export async function insertService(
  em: EntityManager,
  writer: ServiceWriter,
  wanted: NewService & { readonly persistent: boolean },
): Promise<string> {
  const uuid = randomUUID()
  const name = await chooseName(em, writer, wanted.name)
  const { persistent, softLimit, hardLimit, ports } = wanted
  await em.insertMany(Service, [
    { uuid, user: writer.userUuid, name, persistent, softLimit, hardLimit, ports },
  ])
  if (wanted.domains.length > 0) await insertDomains(em, writer, { uuid, domains: wanted.domains })
  else if (ports.length > 0) await insertDerivedDomain(em, writer, { uuid, name, wanted })
  return uuid
}

async function chooseName(
  em: EntityManager,
  { userUuid, randomSuffix }: ServiceWriter,
  given: string | undefined,
): Promise<string> {
  for (let attempt = 0; attempt < maxNameAttempts; attempt++) {
    const name = given ?? generatedServiceName(randomInt, randomSuffix(serviceSuffixLength))
    const [taken] = await em.execute<object[]>('select 1 from services where user_uuid = ? and name = ?', [
      userUuid,
      name,
    ])
    if (taken === undefined) return name
    if (given !== undefined) throw new Refused({ kind: 'service-name-taken', name })
  }
  throw new Error('no generated name of a service is free')
}

/** A generated name ends with random characters of its own, which serve the domain as well. */
async function insertDerivedDomain(
  em: EntityManager,
  { randomSuffix }: ServiceWriter,
  { uuid, name, wanted }: { readonly uuid: string; readonly name: string; readonly wanted: NewService },
): Promise<void> {
  for (let attempt = 0; attempt < maxNameAttempts; attempt++) {
    const isGenerated = wanted.name === undefined && attempt === 0
    const label = isGenerated ? name : derivedLabel(name, randomSuffix(serviceSuffixLength))
    const fqdn = `${label}.${wanted.metroDomain}`
    const taken = await takeDomains(em, [{ fqdn, service: uuid, ordinal: 0, certificate: null }])
    if (taken === undefined) return
  }
  throw new Error('no derived domain is free')
}

async function insertDomains(
  em: EntityManager,
  writer: ServiceWriter,
  { uuid, domains }: { readonly uuid: string; readonly domains: readonly WantedDomain[] },
): Promise<void> {
  const rows: DomainRow[] = []
  for (const [ordinal, domain] of domains.entries()) {
    const certificate = await chooseCertificate(em, writer, domain)
    rows.push({ fqdn: domain.fqdn, service: uuid, ordinal, certificate })
  }
  const taken = await takeDomains(em, rows)
  if (taken !== undefined) throw new Refused({ kind: 'domain-taken', fqdn: taken })
}

interface DomainRow {
  readonly fqdn: string
  readonly service: string
  readonly ordinal: number
  readonly certificate: string | null
}

/**
 * Writes all, or answers one that somebody has. A name that another transaction is just taking or releasing
 * is waited for; everybody takes names in the same order, so that no two wait for each other.
 */
async function takeDomains(em: EntityManager, rows: readonly DomainRow[]): Promise<string | undefined> {
  const sorted = rows.toSorted((one, other) => (one.fqdn < other.fqdn ? -1 : 1))
  const written = await em.execute<{ fqdn: string }[]>(
    `insert into domains (fqdn, service_uuid, ordinal, certificate_uuid)
     values ${sorted.map(() => '(?, ?, ?, ?)').join(', ')}
     on conflict (fqdn) do nothing returning fqdn`,
    sorted.flatMap(({ fqdn, service, ordinal, certificate }) => [fqdn, service, ordinal, certificate]),
  )
  const own = new Set(written.map(({ fqdn }) => fqdn))
  return rows.find(({ fqdn }) => !own.has(fqdn))?.fqdn
}

/**
 * Attaches `count` further instances to one of the user's services: its row is locked until the commit, and
 * with more than one instance it is persistent. Answers its UUID. Throws `Refused`.
 */
export async function attachToService(
  em: EntityManager,
  wanted: { readonly userUuid: string; readonly service: Identifier; readonly count: number },
): Promise<string> {
  const { service } = wanted
  const [by, value] =
    'uuid' in service ? (['uuid', service.uuid] as const) : (['name', service.name] as const)
  const [found] = await em.execute<{ uuid: string; persistent: boolean }[]>(
    `select uuid, persistent from services where user_uuid = ? and ${by} = ? for update`,
    [wanted.userUuid, value],
  )
  if (found === undefined) {
    const refusal: WriteRefusal = { kind: 'service-not-found', by, value }
    throw new Refused(refusal)
  }
  if (!found.persistent) {
    const [attached] = await em.execute<{ count: number }[]>(
      'select count(*)::int as count from instances where service_uuid = ? and deleted_at is null',
      [found.uuid],
    )
    if ((attached?.count ?? 0) + wanted.count > 1) {
      await em.execute('update services set persistent = true where uuid = ?', [found.uuid], 'run')
    }
  }
  return found.uuid
}
