import { randomInt, randomUUID } from 'node:crypto'
import { thePlatform } from '../../domain/event/asker.ts'
import { UserEventKind } from '../../domain/event/user-event-kind.ts'
import { derivedLabel, generatedServiceName, serviceSuffixLength } from '../../domain/service/name.ts'
import { eventObject, writeEvents } from '../event/write.ts'
import { columnOf } from '../identifiers.ts'
import type { Identifier } from '../identifiers.ts'
import { json } from '../postgres-client.ts'
import type { Db, Row } from '../schema/tables.ts'
import type { NewService, ServiceWriter, WantedDomain } from './new-service.ts'
import { maxNameAttempts } from '../random-suffix.ts'
import { Refused } from '../refused.ts'
import type { WriteRefusal } from '../refused.ts'
import { chooseCertificate } from '../certificate/service-certificates.ts'
import { takeDomains } from './domains.ts'

/**
 * Writes a service with its domains and the certificates that they need. The caller's transaction has locked
 * the user's row, so names that are free here stay free until the commit. Throws `Refused`.
 */
export async function insertService(
  db: Db,
  writer: ServiceWriter,
  wanted: NewService & { readonly persistent: boolean },
): Promise<string> {
  const uuid = randomUUID()
  const name = await chooseName(db, writer, wanted.name)
  const { persistent, softLimit, hardLimit, ports } = wanted
  const { userUuid } = writer
  await db
    .insertInto('services')
    .values({ uuid, userUuid, name, persistent, softLimit, hardLimit, ports: json(ports) })
    .execute()
  await writeEvents(db, [
    {
      ...eventObject({ uuid, name, userUuid }),
      kind: UserEventKind.ServiceCreated,
      why: `it was asked for, with ${publishes(ports)}`,
      asker: writer.asker ?? thePlatform,
    },
  ])
  if (wanted.domains.length > 0) await insertDomains(db, writer, { uuid, domains: wanted.domains })
  else if (ports.length > 0) await insertDerivedDomain(db, writer, { uuid, name, wanted })
  return uuid
}

function publishes(ports: NewService['ports']): string {
  if (ports.length === 0) return 'no port'
  const numbers = ports.map(({ port }) => port).join(', ')
  return `the ${ports.length === 1 ? 'port' : 'ports'} ${numbers}`
}

async function chooseName(
  db: Db,
  { userUuid, randomSuffix }: ServiceWriter,
  given: string | undefined,
): Promise<string> {
  for (let attempt = 0; attempt < maxNameAttempts; attempt++) {
    const name = given ?? generatedServiceName(randomInt, randomSuffix(serviceSuffixLength))
    const taken = await db
      .selectFrom('services')
      .select('uuid')
      .where('userUuid', '=', userUuid)
      .where('name', '=', name)
      .executeTakeFirst()
    if (taken === undefined) return name
    if (given !== undefined) throw new Refused({ kind: 'service-name-taken', name })
  }
  throw new Error('no generated name of a service is free')
}

/**
 * Gives the service a name below the metro domain. A generated service name has a random end already, so it
 * is tried as the label first.
 */
async function insertDerivedDomain(
  db: Db,
  { randomSuffix }: ServiceWriter,
  { uuid, name, wanted }: { readonly uuid: string; readonly name: string; readonly wanted: NewService },
): Promise<void> {
  for (let attempt = 0; attempt < maxNameAttempts; attempt++) {
    const isGenerated = wanted.name === undefined && attempt === 0
    const label = isGenerated ? name : derivedLabel(name, randomSuffix(serviceSuffixLength))
    const fqdn = `${label}.${wanted.metroDomain}`
    const taken = await takeDomains(db, [{ fqdn, serviceUuid: uuid, ordinal: 0, certificateUuid: null }])
    if (taken === undefined) return
  }
  throw new Error('no derived domain is free')
}

async function insertDomains(
  db: Db,
  writer: ServiceWriter,
  { uuid, domains }: { readonly uuid: string; readonly domains: readonly WantedDomain[] },
): Promise<void> {
  const rows: Row<'domains'>[] = []
  for (const [ordinal, domain] of domains.entries()) {
    const certificateUuid = await chooseCertificate(db, writer, domain)
    rows.push({ fqdn: domain.fqdn, serviceUuid: uuid, ordinal, certificateUuid })
  }
  const taken = await takeDomains(db, rows)
  if (taken !== undefined) throw new Refused({ kind: 'domain-taken', fqdn: taken })
}

/**
 * Prepares one of the user's services for `count` more instances: its row is locked until the commit, and
 * the service becomes persistent if it then has more than one instance. Returns the service's UUID. Throws
 * `Refused`.
 */
export async function attachToService(
  db: Db,
  wanted: { readonly userUuid: string; readonly service: Identifier; readonly count: number },
): Promise<string> {
  const [by, value] = columnOf(wanted.service)
  const found = await db
    .selectFrom('services')
    .select(['uuid', 'persistent'])
    .where('userUuid', '=', wanted.userUuid)
    .where(by, '=', value)
    .forUpdate()
    .executeTakeFirst()
  if (found === undefined) {
    const refusal: WriteRefusal = { kind: 'service-not-found', by, value }
    throw new Refused(refusal)
  }
  if (!found.persistent) {
    const { count } = await db
      .selectFrom('instances')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('serviceUuid', '=', found.uuid)
      .where('deletedAt', 'is', null)
      .executeTakeFirstOrThrow()
    if (count + wanted.count > 1) {
      await db.updateTable('services').set({ persistent: true }).where('uuid', '=', found.uuid).execute()
    }
  }
  return found.uuid
}
