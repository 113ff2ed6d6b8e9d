import { isUuid } from '../../domain/object-name.ts'
import type { VolumeState } from '../../domain/volume/state.ts'
import type { Database } from '../database.ts'
import type { Identifier, ListPage } from '../instance/instances.ts'
import { selectVolumes, volumeStateSql, volumesSql } from './row.ts'
import type { VolumeRow } from './row.ts'

/** What a volume must be to be listed; a filter with nothing lets all pass. */
export interface VolumeFilter {
  readonly persistent?: boolean
  readonly state?: VolumeState
}

/** The user's volumes, in the order of `identifiers`; undefined for each that this user does not have. */
export async function findVolumes(
  database: Database,
  userUuid: string,
  identifiers: readonly Identifier[],
): Promise<readonly (VolumeRow | undefined)[]> {
  // PostgreSQL would fail the whole query for one text that is no UUID.
  const uuids = identifiers.flatMap((one) => ('uuid' in one && isUuid(one.uuid) ? [one.uuid] : []))
  const names = identifiers.flatMap((one) => ('name' in one ? [one.name] : []))
  const rows = await database.rows<VolumeRow>({
    name: 'find-volumes',
    text: `${selectVolumes} where volumes.user_uuid = $1 and volumes.deleted_at is null
             and (volumes.uuid = any($2::uuid[]) or volumes.name = any($3::text[]))`,
    values: [userUuid, uuids, names],
  })
  const byUuid = new Map(rows.map((row) => [row.uuid, row]))
  const byName = new Map(rows.map((row) => [row.name, row]))
  return identifiers.map((one) => ('uuid' in one ? byUuid.get(one.uuid.toLowerCase()) : byName.get(one.name)))
}

/** The user's volumes in the order of their creation. */
export async function listVolumes(
  database: Database,
  userUuid: string,
  page: ListPage = {},
): Promise<readonly VolumeRow[]> {
  return database.rows<VolumeRow>({
    name: 'list-volumes',
    text: `${selectVolumes} where volumes.user_uuid = $1 and volumes.deleted_at is null and volumes.position > $4
           order by volumes.position limit $2 offset $3`,
    values: pageValues(userUuid, page),
  })
}

/** Names of the user's volumes that pass any of the filters; without a filter, of all. */
export async function listVolumeNames(
  database: Database,
  userUuid: string,
  { filters, ...page }: ListPage & { readonly filters: readonly VolumeFilter[] },
): Promise<readonly Pick<VolumeRow, 'uuid' | 'name'>[]> {
  const any = filters.length === 0 ? [{}] : filters
  return database.rows<Pick<VolumeRow, 'uuid' | 'name'>>({
    name: 'list-volume-names',
    text: `select volumes.uuid, volumes.name from ${volumesSql}
           where volumes.user_uuid = $1 and volumes.deleted_at is null and volumes.position > $4
             and exists (select 1 from unnest($5::boolean[], $6::text[]) as wanted (persistent, state)
               where (wanted.persistent is null or wanted.persistent = volumes.persistent)
                 and (wanted.state is null or wanted.state = ${volumeStateSql}))
           order by volumes.position limit $2 offset $3`,
    values: [
      ...pageValues(userUuid, page),
      any.map((filter: VolumeFilter) => filter.persistent ?? null),
      any.map((filter: VolumeFilter) => filter.state ?? null),
    ],
  })
}

function pageValues(userUuid: string, page: ListPage): readonly unknown[] {
  return [userUuid, page.count ?? null, page.from ?? 0, page.afterPosition ?? 0]
}

/** What instances show of their volumes, by the volumes' UUIDs. */
export async function attachedVolumes(
  database: Database,
  rows: readonly { readonly volumeUuid: string | null }[],
): Promise<ReadonlyMap<string, Pick<VolumeRow, 'uuid' | 'name'>>> {
  const uuids = rows.flatMap((row) => row.volumeUuid ?? [])
  if (uuids.length === 0) return new Map()
  const found = await database.rows<Pick<VolumeRow, 'uuid' | 'name'>>({
    name: 'attached-volumes',
    text: 'select uuid, name from volumes where uuid = any($1::uuid[])',
    values: [uuids],
  })
  return new Map(found.map((volume) => [volume.uuid, volume]))
}

/**
 * A volume that is marked deleted and still has its row: so was the one that an instance took along.
 * Undefined where it lives, and where nothing is left of it.
 */
export async function findDeletedVolume(database: Database, uuid: string): Promise<VolumeRow | undefined> {
  const [row] = await database.rows<VolumeRow>({
    name: 'find-deleted-volume',
    text: `${selectVolumes} where volumes.uuid = $1 and volumes.deleted_at is not null`,
    values: [uuid],
  })
  return row
}
