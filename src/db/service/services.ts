import type { ExpressionBuilder } from 'kysely'
import { isLimited } from '../account/reach.ts'
import type { Reach } from '../account/reach.ts'
import { thePlatform } from '../../domain/event/asker.ts'
import type { Asker } from '../../domain/event/asker.ts'
import { UserEventKind } from '../../domain/event/user-event-kind.ts'
import type { Database } from '../database.ts'
import { eventObject, writeEvents } from '../event/write.ts'
import { inOrderOf, pageBounds, splitIdentifiers } from '../identifiers.ts'
import type { Identifier, ListPage } from '../identifiers.ts'
import type { Tables } from '../schema/tables.ts'
import { anyOf } from '../sql/lists.ts'
import { selectAttachedServices, selectServices } from './row.ts'
import type { AttachedService, ServiceRow } from './row.ts'

/** The conditions on services in a list. An empty filter lets all pass. */
export interface ServiceFilter {
  readonly persistent?: boolean
  /** A domain of the service in the form of `Domain`: lower case, without a final dot. */
  readonly fqdn?: string
}

/** The services within reach, in the order of `identifiers`; undefined for each that is not within it. */
export async function findServices(
  { db }: Database,
  reach: Reach,
  identifiers: readonly Identifier[],
): Promise<readonly (ServiceRow | undefined)[]> {
  const { uuids, names } = splitIdentifiers(identifiers)
  const rows = await selectServices(db)
    .where('userUuid', '=', reach.userUuid)
    .$if(isLimited(reach), (query) => query.where('name', '=', anyOf(reach.services!)))
    .where((eb) => eb.or([eb('uuid', '=', anyOf(uuids)), eb('name', '=', anyOf(names))]))
    .execute()
  return inOrderOf(identifiers, rows)
}

/** The services within reach in the order of their creation. */
export async function listServices(
  { db }: Database,
  reach: Reach,
  page: ListPage = {},
): Promise<readonly ServiceRow[]> {
  const { side, position, direction } = pageBounds(page)
  return selectServices(db)
    .where('userUuid', '=', reach.userUuid)
    .$if(isLimited(reach), (query) => query.where('name', '=', anyOf(reach.services!)))
    .where('position', side, position)
    .orderBy('position', direction)
    .limit(page.count ?? null)
    .offset(page.from ?? 0)
    .execute()
}

/** Names of the services within reach that pass any of the filters; all names if there is no filter. */
export async function listServiceNames(
  { db }: Database,
  reach: Reach,
  { filters, ...page }: ListPage & { readonly filters: readonly ServiceFilter[] },
): Promise<readonly Pick<ServiceRow, 'uuid' | 'name'>[]> {
  return db
    .selectFrom('services')
    .select(['uuid', 'name'])
    .where('userUuid', '=', reach.userUuid)
    .$if(isLimited(reach), (query) => query.where('name', '=', anyOf(reach.services!)))
    .where('position', '>', page.afterPosition ?? 0)
    .$if(filters.length > 0, (query) => query.where(passesAny(filters)))
    .orderBy('position')
    .limit(page.count ?? null)
    .offset(page.from ?? 0)
    .execute()
}

/**
 * The condition that a service passes any of the filters. Filters with the same value of `persistent` share
 * one part, so the condition has at most three parts, however many filters there are.
 */
function passesAny(filters: readonly ServiceFilter[]) {
  return (eb: ExpressionBuilder<Tables, 'services'>) =>
    eb.or(
      [undefined, true, false].flatMap((persistent) => {
        const alike = filters.filter((filter) => filter.persistent === persistent)
        if (alike.length === 0) return []
        const fqdns = alike.flatMap(({ fqdn }) => fqdn ?? [])
        return eb.and([
          ...(persistent === undefined ? [] : [eb('persistent', '=', persistent)]),
          ...(fqdns.length < alike.length ? [] : [eb.exists(domainsOf(eb, fqdns))]),
        ])
      }),
    )
}

function domainsOf(eb: ExpressionBuilder<Tables, 'services'>, fqdns: readonly string[]) {
  return eb
    .selectFrom('domains')
    .select('fqdn')
    .where('fqdn', '=', anyOf(fqdns))
    .whereRef('domains.serviceUuid', '=', 'services.uuid')
}

/** The part of each service that its instances show, by the services' UUIDs. */
export async function attachedServices(
  { db }: Database,
  rows: readonly { readonly serviceUuid: string | null }[],
): Promise<ReadonlyMap<string, AttachedService>> {
  const uuids = [...new Set(rows.flatMap((row) => row.serviceUuid ?? []))]
  if (uuids.length === 0) return new Map()
  const found = await selectAttachedServices(db).where('uuid', '=', anyOf(uuids)).execute()
  return new Map(found.map((service) => [service.uuid, service]))
}

export type DeleteServiceOutcome = 'deleted' | 'attached' | 'not-found'

/**
 * Deletes the user's service and releases its domains; their certificates stay. Refused while an instance is
 * attached. The service's row is locked before the instances are looked for. A transaction that attaches an
 * instance locks that row too, so no instance is attached in between.
 */
export async function deleteService(
  { db }: Database,
  userUuid: string,
  uuid: string,
  asker: Asker = thePlatform,
): Promise<DeleteServiceOutcome> {
  return db.transaction().execute(async (db): Promise<DeleteServiceOutcome> => {
    const locked = await db
      .selectFrom('services')
      .select(['uuid', 'name', 'userUuid'])
      .where('uuid', '=', uuid)
      .where('userUuid', '=', userUuid)
      .forUpdate()
      .executeTakeFirst()
    if (locked === undefined) return 'not-found'
    const attached = await db
      .selectFrom('instances')
      .select('uuid')
      .where('serviceUuid', '=', uuid)
      .where('deletedAt', 'is', null)
      .limit(1)
      .executeTakeFirst()
    if (attached !== undefined) return 'attached'
    await db.deleteFrom('services').where('uuid', '=', uuid).execute()
    await writeEvents(db, [
      {
        ...eventObject(locked),
        kind: UserEventKind.ServiceDeleted,
        why: 'its deletion was asked for',
        asker,
      },
    ])
    return 'deleted'
  })
}
