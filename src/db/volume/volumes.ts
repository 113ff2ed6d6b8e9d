import { volumeStates } from '../../domain/volume/state.ts'
import type { VolumeState } from '../../domain/volume/state.ts'
import type { Database } from '../database.ts'
import { inOrderOf, pageBounds, splitIdentifiers } from '../identifiers.ts'
import type { Identifier, ListPage } from '../identifiers.ts'
import { anyOf } from '../sql/lists.ts'
import { selectVolumes } from './row.ts'
import type { VolumeRow } from './row.ts'

/** The conditions on volumes in a list. An empty filter lets all pass. */
export interface VolumeFilter {
  readonly persistent?: boolean
  readonly state?: VolumeState
}

/** The user's volumes, in the order of `identifiers`; undefined for each one that the user does not have. */
export async function findVolumes(
  { db }: Database,
  userUuid: string,
  identifiers: readonly Identifier[],
): Promise<readonly (VolumeRow | undefined)[]> {
  const { uuids, names } = splitIdentifiers(identifiers)
  const rows = await selectVolumes(db)
    .where('volumes.userUuid', '=', userUuid)
    .where('volumes.deletedAt', 'is', null)
    .where((eb) => eb.or([eb('volumes.uuid', '=', anyOf(uuids)), eb('volumes.name', '=', anyOf(names))]))
    .execute()
  return inOrderOf(identifiers, rows)
}

/** The user's volumes in the order of their creation. */
export async function listVolumes(
  { db }: Database,
  userUuid: string,
  page: ListPage = {},
): Promise<readonly VolumeRow[]> {
  const { side, position, direction } = pageBounds(page)
  return selectVolumes(db)
    .where('volumes.userUuid', '=', userUuid)
    .where('volumes.deletedAt', 'is', null)
    .where('volumes.position', side, position)
    .orderBy('volumes.position', direction)
    .limit(page.count ?? null)
    .offset(page.from ?? 0)
    .execute()
}

/** Names of the user's volumes that pass any of the filters; all names if there is no filter. */
export async function listVolumeNames(
  { db }: Database,
  userUuid: string,
  { filters, ...page }: ListPage & { readonly filters: readonly VolumeFilter[] },
): Promise<readonly Pick<VolumeRow, 'uuid' | 'name'>[]> {
  const living = selectVolumes(db)
    .where('volumes.userUuid', '=', userUuid)
    .where('volumes.deletedAt', 'is', null)
    .where('volumes.position', '>', page.afterPosition ?? 0)
  return db
    .selectFrom(living.as('living'))
    .select(['uuid', 'name'])
    .where((eb) => {
      const passes = (persistent: boolean) =>
        eb.and([eb('persistent', '=', persistent), eb('state', '=', anyOf(statesOf(filters, persistent)))])
      return eb.or([passes(true), passes(false)])
    })
    .orderBy('position')
    .limit(page.count ?? null)
    .offset(page.from ?? 0)
    .execute()
}

/** The states in which a volume with this value of `persistent` passes any of the filters. */
function statesOf(filters: readonly VolumeFilter[], persistent: boolean): readonly VolumeState[] {
  const any: readonly VolumeFilter[] = filters.length === 0 ? [{}] : filters
  const fitting = any.filter((filter) => (filter.persistent ?? persistent) === persistent)
  return volumeStates.filter((state) => fitting.some((filter) => (filter.state ?? state) === state))
}

/** The part of each volume that its instance shows, by the volumes' UUIDs. */
export async function attachedVolumes(
  { db }: Database,
  rows: readonly { readonly volumeUuid: string | null }[],
): Promise<ReadonlyMap<string, Pick<VolumeRow, 'uuid' | 'name'>>> {
  const uuids = rows.flatMap((row) => row.volumeUuid ?? [])
  if (uuids.length === 0) return new Map()
  const found = await db
    .selectFrom('volumes')
    .select(['uuid', 'name'])
    .where('uuid', '=', anyOf(uuids))
    .execute()
  return new Map(found.map((volume) => [volume.uuid, volume]))
}

/**
 * A volume that is marked deleted and still has its row, for example because it was deleted with its
 * instance. Undefined if the volume is not deleted, or its row is gone.
 */
export async function findDeletedVolume({ db }: Database, uuid: string): Promise<VolumeRow | undefined> {
  return selectVolumes(db)
    .where('volumes.uuid', '=', uuid)
    .where('volumes.deletedAt', 'is not', null)
    .executeTakeFirst()
}
