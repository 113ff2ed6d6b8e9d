import { isUuid } from '../../domain/object-name.ts'
import type { Database } from '../database.ts'
import type { Identifier, ListPage } from '../instance/instances.ts'
import { attachedServiceColumns, serviceColumns } from './row.ts'
import type { AttachedService, ServiceRow } from './row.ts'

/** What a service must be to be listed; a filter with nothing lets all pass. */
export interface ServiceFilter {
  readonly persistent?: boolean
  /** As `Domain` has it. */
  readonly fqdn?: string
}

/** The user's services, in the order of `identifiers`; undefined for each that this user does not have. */
export async function findServices(
  database: Database,
  userUuid: string,
  identifiers: readonly Identifier[],
): Promise<readonly (ServiceRow | undefined)[]> {
  const uuids = identifiers.flatMap((one) => ('uuid' in one && isUuid(one.uuid) ? [one.uuid] : []))
  const names = identifiers.flatMap((one) => ('name' in one ? [one.name] : []))
  const rows = await database.rows<ServiceRow>({
    name: 'find-services',
    text: `select ${serviceColumns} from services
           where user_uuid = $1 and (uuid = any($2::uuid[]) or name = any($3::text[]))`,
    values: [userUuid, uuids, names],
  })
  const byUuid = new Map(rows.map((row) => [row.uuid, row]))
  const byName = new Map(rows.map((row) => [row.name, row]))
  return identifiers.map((one) => ('uuid' in one ? byUuid.get(one.uuid.toLowerCase()) : byName.get(one.name)))
}

/** The user's services in the order of their creation. */
export async function listServices(
  database: Database,
  userUuid: string,
  page: ListPage = {},
): Promise<readonly ServiceRow[]> {
  return database.rows<ServiceRow>({
    name: 'list-services',
    text: `select ${serviceColumns} from services where user_uuid = $1 and position > $4
           order by position limit $2 offset $3`,
    values: pageValues(userUuid, page),
  })
}

/** Names of the user's services that pass any of the filters; without a filter, of all. */
export async function listServiceNames(
  database: Database,
  userUuid: string,
  { filters, ...page }: ListPage & { readonly filters: readonly ServiceFilter[] },
): Promise<readonly Pick<ServiceRow, 'uuid' | 'name'>[]> {
  const any = filters.length === 0 ? [{}] : filters
  return database.rows<Pick<ServiceRow, 'uuid' | 'name'>>({
    name: 'list-service-names',
    text: `select uuid, name from services where user_uuid = $1 and position > $4
             and exists (select 1 from unnest($5::boolean[], $6::text[]) as wanted (persistent, fqdn)
               where (wanted.persistent is null or wanted.persistent = services.persistent)
                 and (wanted.fqdn is null or exists
                   (select 1 from domains where fqdn = wanted.fqdn and service_uuid = services.uuid)))
           order by position limit $2 offset $3`,
    values: [
      ...pageValues(userUuid, page),
      any.map((filter: ServiceFilter) => filter.persistent ?? null),
      any.map((filter: ServiceFilter) => filter.fqdn ?? null),
    ],
  })
}

function pageValues(userUuid: string, page: ListPage): readonly unknown[] {
  return [userUuid, page.count ?? null, page.from ?? 0, page.afterPosition ?? 0]
}

/** What instances show of their services, by the services' UUIDs. */
export async function attachedServices(
  database: Database,
  rows: readonly { readonly serviceUuid: string | null }[],
): Promise<ReadonlyMap<string, AttachedService>> {
  const uuids = [...new Set(rows.flatMap((row) => row.serviceUuid ?? []))]
  if (uuids.length === 0) return new Map()
  const found = await database.rows<AttachedService>({
    name: 'attached-services',
    text: `select ${attachedServiceColumns} from services where uuid = any($1::uuid[])`,
    values: [uuids],
  })
  return new Map(found.map((service) => [service.uuid, service]))
}

export type DeleteServiceOutcome = 'deleted' | 'attached' | 'not-found'

/**
 * Deletes the user's service and releases its domains; their certificates stay. Refused while an instance is
 * attached. The row is locked before the instances are looked for, as by whoever attaches one, so that none
 * slips in between.
 */
export async function deleteService(
  database: Database,
  userUuid: string,
  uuid: string,
): Promise<DeleteServiceOutcome> {
  return database.em().transactional(async (em): Promise<DeleteServiceOutcome> => {
    const [locked] = await em.execute<object[]>(
      'select 1 from services where uuid = ? and user_uuid = ? for update',
      [uuid, userUuid],
    )
    if (locked === undefined) return 'not-found'
    const [attached] = await em.execute<object[]>(
      'select 1 from instances where service_uuid = ? and deleted_at is null limit 1',
      [uuid],
    )
    if (attached !== undefined) return 'attached'
    await em.execute('delete from services where uuid = ?', [uuid], 'run')
    return 'deleted'
  })
}
