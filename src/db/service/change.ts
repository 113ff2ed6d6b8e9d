import { thePlatform } from '../../domain/event/asker.ts'
import type { Asker } from '../../domain/event/asker.ts'
import { UserEventKind } from '../../domain/event/user-event-kind.ts'
import { findQuotaExcess } from '../../domain/account/quotas.ts'
import {
  ServiceProperty,
  changeFacts,
  changeText,
  changedList,
  changedProperties,
} from '../../domain/service/change.ts'
import type { ListChange } from '../../domain/service/change.ts'
import type { PublishedPort } from '../../domain/service/handler.ts'
import { resolveLimits } from '../../domain/service/ports.ts'
import type { ConnectionLimits } from '../../domain/service/ports.ts'
import { quotasOf } from '../account/quotas.ts'
import { lockUser } from '../account/user-lock.ts'
import { chooseCertificate } from '../certificate/service-certificates.ts'
import type { Database } from '../database.ts'
import { eventObject, writeEvents } from '../event/write.ts'
import { json } from '../postgres-client.ts'
import { randomSuffix } from '../random-suffix.ts'
import type { RandomSuffix } from '../random-suffix.ts'
import { Refused, orRefusal } from '../refused.ts'
import type { WriteRefusal } from '../refused.ts'
import type { Db, Row } from '../schema/tables.ts'
import { replaceDomains } from './domains.ts'
import type { ServiceWriter, WantedDomain } from './new-service.ts'
import type { ServiceRow } from './row.ts'
import { findServices } from './services.ts'

/** What one object of a request asks for. A limit that is absent stays as it is. */
export interface ServiceChange extends Partial<ConnectionLimits> {
  readonly ports: ListChange<PublishedPort, number>
  /** Without a certificate, a domain that the service has keeps the one that it has, if that can be used. */
  readonly domains: ListChange<WantedDomain, string>
}

export interface ChangeServiceDeps {
  readonly database: Database
  readonly randomSuffix?: RandomSuffix
  /** The most ports and domains that one service may have. */
  readonly bounds: Readonly<Record<'services' | 'domains', number>>
}

export type ChangeServiceOutcome =
  | {
      readonly ok: true
      readonly changed: readonly ServiceProperty[]
      /** Undefined if the service was deleted before it could be read. */
      readonly service: ServiceRow | undefined
    }
  | { readonly ok: false; readonly refusal: WriteRefusal }

/**
 * Changes the user's service by all of `changes` in their order, or by none of them. The rules for a service
 * hold for the result: what one change breaks, a later one may mend. One transaction writes everything, with
 * one event. If nothing differs at the end, nothing is written. Locks are taken in the order that
 * `insertInstances` describes: the user, the service, domains by name.
 */
export async function changeService(
  deps: ChangeServiceDeps,
  service: { readonly userUuid: string; readonly uuid: string },
  changes: readonly ServiceChange[],
  asker: Asker = thePlatform,
): Promise<ChangeServiceOutcome> {
  const { database } = deps
  const { userUuid, uuid } = service
  const writer = { userUuid, randomSuffix: deps.randomSuffix ?? randomSuffix, asker }
  const written = await orRefusal(() =>
    database.db.transaction().execute(async (db) => {
      const user = await lockUser(db, userUuid)
      const held = await lockService(db, service)
      const wanted = changes.reduce((parts: Parts, change) => changedParts(held, parts, change), held)
      refuseTooMany(deps, held, wanted)
      const added = wanted.ports.length - held.ports.length
      const excess = findQuotaExcess(await quotasOf(db, user), { services: added })
      if (excess) throw new Refused({ kind: 'quota', excess })
      return writeChange(db, writer, held, wanted)
    }),
  )
  if (!written.ok) return written
  const [found] = await findServices(database, { userUuid }, [{ uuid }])
  return { ok: true, changed: written.value, service: found }
}

/** A service whose row is locked, with the rows of its domains. */
interface HeldService extends Pick<Row<'services'>, 'uuid' | 'name' | 'userUuid'>, ConnectionLimits {
  readonly ports: readonly PublishedPort[]
  readonly domains: readonly Row<'domains'>[]
}

/** What the service is to have. A domain is one that it has, or one that a change asks for. */
interface Parts extends ConnectionLimits {
  readonly ports: readonly PublishedPort[]
  readonly domains: readonly (Row<'domains'> | WantedDomain)[]
}

async function lockService(
  db: Db,
  { userUuid, uuid }: { readonly userUuid: string; readonly uuid: string },
): Promise<HeldService> {
  const service = await db
    .selectFrom('services')
    .select(['uuid', 'name', 'userUuid', 'softLimit', 'hardLimit', 'ports'])
    .where('uuid', '=', uuid)
    .where('userUuid', '=', userUuid)
    .forUpdate()
    .executeTakeFirst()
  if (service === undefined) throw new Refused({ kind: 'service-not-found', by: 'uuid', value: uuid })
  const domains = await db
    .selectFrom('domains')
    .select(['fqdn', 'serviceUuid', 'ordinal', 'certificateUuid'])
    .where('serviceUuid', '=', uuid)
    .orderBy('ordinal')
    .execute()
  return { ...service, domains }
}

function changedParts({ name }: HeldService, before: Parts, change: ServiceChange): Parts {
  const ports = changedList(before.ports, change.ports, ({ port }) => port)
  if (!ports.ok) {
    throw new Refused({ kind: 'port-not-published', name, port: ports.missing, ports: ports.present })
  }
  const domains = changedList(before.domains, change.domains, ({ fqdn }) => fqdn)
  if (!domains.ok) {
    throw new Refused({ kind: 'domain-not-held', name, fqdn: domains.missing, domains: domains.present })
  }
  const { softLimit = before.softLimit, hardLimit = before.hardLimit } = change
  return { softLimit, hardLimit, ports: ports.list, domains: domains.list }
}

function refuseTooMany({ bounds }: ChangeServiceDeps, held: HeldService, wanted: Parts): void {
  const { softLimit: soft, hardLimit: hard } = wanted
  if (resolveLimits(wanted) === undefined) throw new Refused({ kind: 'soft-above-hard', soft, hard })
  const counts = [
    { of: 'services', before: held.ports.length, count: wanted.ports.length },
    { of: 'domains', before: held.domains.length, count: wanted.domains.length },
  ] as const
  for (const { of, before, count } of counts) {
    const limit = bounds[of]
    if (count > limit && count > before) throw new Refused({ kind: 'too-many-parts', of, count, limit })
  }
}

async function writeChange(
  db: Db,
  writer: ServiceWriter & { readonly asker: Asker },
  held: HeldService,
  wanted: Parts,
): Promise<readonly ServiceProperty[]> {
  const { uuid } = held
  const after = { ...wanted, domains: await domainRows(db, writer, held, wanted) }
  const changed = changedProperties(held, after)
  if (changed.length === 0) return changed
  const { softLimit, hardLimit, ports } = after
  if (changed.some((property) => property !== ServiceProperty.Domains)) {
    await db
      .updateTable('services')
      .set({ softLimit, hardLimit, ports: json(ports) })
      .where('uuid', '=', uuid)
      .execute()
  }
  if (changed.includes(ServiceProperty.Domains)) {
    const taken = await replaceDomains(db, { before: held.domains, after: after.domains })
    if (taken !== undefined) throw new Refused({ kind: 'domain-taken', fqdn: taken })
  }
  await writeEvents(db, [
    {
      ...eventObject(held),
      kind: UserEventKind.ServiceChanged,
      why: `a change was asked for: ${changeText(held, after)}`,
      asker: writer.asker,
      facts: changeFacts(held, after),
    },
  ])
  return changed
}

/**
 * The rows of the domains that the service is to have, in their order. For domains that a change asks for,
 * certificates are chosen as at a creation. The certificate that a domain had before stays as it is.
 */
async function domainRows(
  db: Db,
  writer: ServiceWriter,
  held: HeldService,
  { domains }: Parts,
): Promise<readonly Row<'domains'>[]> {
  const had = new Map(held.domains.map(({ fqdn, certificateUuid }) => [fqdn, certificateUuid]))
  const rows: Row<'domains'>[] = []
  for (const [ordinal, domain] of domains.entries()) {
    const { fqdn } = domain
    const certificateUuid =
      'kind' in domain ? await chooseCertificate(db, writer, domain, had.get(fqdn)) : domain.certificateUuid
    rows.push({ fqdn, serviceUuid: held.uuid, ordinal, certificateUuid })
  }
  return rows
}
